#include <weir/executor/locked_timers.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <memory>
#include <type_traits>

using namespace std::chrono_literals;
using queue = weir::basic_locked_timers<>;
using added = queue::added;

static_assert(!std::is_copy_constructible_v<queue>);

namespace {
weir::time_point at(weir::duration d) { return weir::time_point(d); }
}  // namespace

TEST_CASE("locked timers tell whether a timer is the earliest, and when that is due") {
    queue q;
    weir::timer a(at(5ns), nullptr), b(at(7ns), nullptr), c(at(3ns), nullptr);
    CHECK(q.next() == queue::never);
    CHECK(q.add(a) == added::earliest);
    CHECK(q.next() == 5);
    CHECK(q.add(b) == added::queued);
    CHECK(q.next() == 5);
    CHECK(q.add(c) == added::earliest);
    CHECK(q.next() == 3);
    CHECK(q.cancel(c, at(1ns)));
    CHECK_FALSE(q.cancel(c, at(2ns)));
    CHECK(q.next() == 5);
    int fired = 0;
    CHECK(q.fire(at(4ns), [&](std::coroutine_handle<>) { ++fired; }) == 0);
    CHECK(q.fire(at(7ns), [&](std::coroutine_handle<>) { ++fired; }) == 2);
    CHECK(fired == 2);
    CHECK(q.next() == queue::never);
}

TEST_CASE("locked timers refuse one that was cancelled before") {
    queue q;
    weir::timer t(at(5ns), nullptr);
    CHECK_FALSE(q.cancel(t, at(1ns)));
    CHECK(q.add(t) == added::refused);
    CHECK(q.next() == queue::never);
}

TEST_CASE("locked timers fire more than a handful at once, in order") {
    queue q;
    std::deque<weir::timer> many;
    for (int i = 0; i < 100; ++i) {
        many.emplace_back(at(weir::duration(100 - i)), nullptr);
        CHECK(q.add(many.back()) == added::earliest);
    }
    std::size_t n = 0;
    CHECK(q.fire(at(100ns), [&](std::coroutine_handle<>) { ++n; }) == 100);
    CHECK(n == 100);
}

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

TEST_CASE("woken timers set the wake-up for the earliest timer, and clear it when the last is cancelled") {
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

TEST_CASE("a timer that was cancelled before it is added is posted at once") {
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
