#include <weir/executor/woken_timers.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <chrono>
#include <memory>

using namespace std::chrono_literals;

namespace {

// Woken by hand.
class by_hand : public weir::detail::woken_timers<by_hand> {
  public:
    explicit by_hand(weir::executor& ex) noexcept : woken_timers(ex) {}
    using woken_timers::is_empty, woken_timers::next, woken_timers::fire_due;
    static weir::time_point now() noexcept { return the_time; }
    void set() noexcept { ++times_set; }

    static inline weir::time_point the_time{};
    int times_set = 0;
};

actor counts(int& runs) {
    ++runs;
    co_return;
}

}  // namespace

TEST_CASE("what wakes it is told of the earliest timer, and of the last one that was cancelled") {
    weir::virtual_time time;
    int runs = 0;
    actor a = counts(runs), b = counts(runs);
    const auto timers = std::make_shared<by_hand>(time);
    by_hand::the_time = weir::time_point();
    weir::timer late(weir::time_point(5ms), a.handle), early(weir::time_point(3ms), b.handle);
    CHECK(timers->is_empty());
    timers->add(late);
    timers->add(early);
    CHECK(timers->times_set == 2);
    CHECK(timers->next() == weir::time_point(3ms));
    by_hand::the_time = weir::time_point(4ms);
    timers->fire_due();
    time.run_until(time.now());
    CHECK(runs == 1);
    timers->cancel(late);
    CHECK(timers->times_set == 3);
    CHECK(timers->is_empty());
    time.run_until(time.now());
    CHECK(runs == 2);
}

TEST_CASE("one that was cancelled before it was added is posted at once") {
    weir::virtual_time time;
    int runs = 0;
    actor a = counts(runs);
    const auto timers = std::make_shared<by_hand>(time);
    weir::timer t(weir::time_point(5ms), a.handle);
    timers->cancel(t);
    timers->add(t);
    time.run_until(time.now());
    CHECK(runs == 1);
    CHECK(timers->times_set == 0);
}
