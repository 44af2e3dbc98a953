#include <weir/executor/work_finder.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor_view.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>
#include <cstddef>
#include <new>

// In what order all is found while a pool runs: tests/unit/executor/thread_pool.test.cpp.
namespace {

// Whose threads do nothing: the test is the worker.
class finder final : public weir::detail::basic_work_finder<weir::detail::standard_platform> {
  public:
    finder() : basic_work_finder(2, 4, "too few", "finder", nullptr) { start(); }
    ~finder() {
        idle_.expect(-static_cast<int>(workers_.size()));
        end(false);
    }
    void post(std::coroutine_handle<> h) noexcept override { post_from_outside(h); }
    bool drive(flag&, weir::time_point) override { return false; }
    bool work(unsigned) noexcept override { return false; }

    std::size_t size() const { return workers_.size(); }
    worker& first() { return workers_[0]; }
    using basic_work_finder::find;
    using basic_work_finder::most;
    using basic_work_finder::push;
    using basic_work_finder::set_threads;
    using basic_work_finder::wanted;
};

}  // namespace

TEST_CASE("there are as many workers as threads, and room for more") {
    finder f;
    CHECK(f.size() == 2);
    CHECK(f.wanted() == 2);
}

TEST_CASE("beside as many workers as were asked for at most there is room for 64 while some block") {
    finder f;
    CHECK(f.most() == 4);
    f.set_threads(4 + 64);
    CHECK(f.size() == 4 + 64);
    CHECK_THROWS_AS(f.set_threads(4 + 64 + 1), std::bad_alloc);
    CHECK(f.size() == 4 + 64);
}

TEST_CASE("something waits outside while a timer is set, or anything was posted") {
    finder f;
    CHECK_FALSE(f.waits_outside());
    weir::timer later(weir::time_point::max() - weir::duration(1), std::noop_coroutine());
    f.add(later);
    CHECK(f.waits_outside());
    f.cancel(later);
    CHECK(f.waits_outside());  // its waiter was posted
    CHECK(f.find(f.first()) == std::noop_coroutine().address());
    CHECK_FALSE(f.waits_outside());
}

TEST_CASE("a worker finds what is at hand, then what it has queued, then what came from outside") {
    finder f;
    auto& me = f.first();
    int slot = 0, queued = 0, outside = 0;
    f.push(me, &queued);
    me.exchange_next(&slot, nullptr);
    CHECK(f.find(me) == &slot);
    CHECK(f.find(me) == &queued);
    CHECK(f.find(me) == nullptr);
    f.post(std::coroutine_handle<>::from_address(&outside));
    weir::detail::executor_view view;
    f.inspect(view);
    CHECK(view.pending);
    CHECK(f.find(me) == &outside);
}
