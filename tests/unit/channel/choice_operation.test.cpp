#include <weir/channel/choice_operation.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <chrono>
#include <coroutine>
#include <deque>

using namespace std::chrono_literals;
using weir::detail::wait_limit;

namespace {

// Its clock stands still; how often it was asked to cancel a timer.
struct standing final : weir::executor {
    void post(std::coroutine_handle<> h) noexcept override { posted.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        ++cancels;
        if (timers.cancel(t, now())) post(t.waiter());
    }
    weir::time_point now() const noexcept override { return {}; }
    bool drive(flag&, weir::time_point) override { return false; }
    void run() {
        while (!posted.empty()) {
            const std::coroutine_handle<> next = posted.front();
            posted.pop_front();
            resume(next);
        }
    }
    std::deque<std::coroutine_handle<>> posted;
    weir::timer_queue timers;
    int cancels = 0;
};

actor gets(weir::channel<int>& c, int& got) { got = (co_await c.get_for(1s)).value(); }

}  // namespace

// What it does is tested where it is used: timed_operations.test.cpp, select.test.cpp.

TEST_CASE("a limit is none, a time from now on, or an instant") {
    const weir::time_point now = weir::time_point(5s);
    CHECK(wait_limit().is_for_ever());
    CHECK(wait_limit(weir::duration::max()).is_for_ever());
    CHECK(wait_limit(weir::time_point::max()).is_for_ever());
    CHECK_FALSE(wait_limit(weir::duration(1h)).is_for_ever());
    CHECK_FALSE(wait_limit(now).is_for_ever());
    CHECK(wait_limit(weir::duration(2s)).after(now) == now + 2s);
    CHECK(wait_limit(now + 1s).after(now) == now + 1s);
    CHECK(wait_limit(weir::duration::max() - 1ns).after(now) == weir::time_point::max());
    CHECK(wait_limit(weir::duration(0)).is_nothing());
    CHECK(wait_limit(weir::duration(-1s)).is_nothing());
    CHECK_FALSE(wait_limit(weir::duration(1ns)).is_nothing());
    CHECK_FALSE(wait_limit(now).is_nothing());
}

TEST_CASE(
    "one that has its answer asks its executor for nothing more, and one that is destroyed before does") {
    standing ex;
    int got = 0;
    {
        weir::channel<int> c(1, ex);
        actor a = gets(c, got);
        a.start(ex);
        ex.run();
        CHECK(c.try_put(7) == weir::channel_status::success);
        CHECK(ex.cancels == 1);
        ex.run();
        CHECK(a.ended());
        CHECK(got == 7);
        CHECK(ex.cancels == 1);

        actor b = gets(c, got);
        b.start(ex);
        ex.run();
        b.destroy();
        CHECK(ex.cancels == 2);
        CHECK(c.try_put(8) == weir::channel_status::success);
        ex.run();  // what the timer posts is nobody
        CHECK(c.size() == 1);
    }
    CHECK(got == 7);
}
