#include <weir/channel/choice.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>

#include <chrono>
#include <coroutine>
#include <deque>
#include <memory>
#include <utility>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_status;
using weir::virtual_time;
using weir::detail::wait_limit;
using box = std::unique_ptr<int>;
using boxes = channel<box>;
using choice = weir::detail::basic_choice<weir::detail::standard_platform>;
using get_case = weir::detail::choice_case<boxes, false>;
using put_case = weir::detail::choice_case<boxes, true>;
using joined = weir::detail::any_choice_case<weir::detail::standard_platform>::joined;

namespace {

// A choice of a coroutine that is never posted but as a no-op.
struct chooser {
    explicit chooser(virtual_time& time) { all.begin(std::noop_coroutine(), time, nullptr); }
    choice all;
};

}  // namespace

TEST_CASE("a case that can be done is done, and gives its result") {
    virtual_time time;
    boxes c(1, time);
    box one = std::make_unique<int>(1), two = std::make_unique<int>(2);
    put_case first(c, &one), second(c, &two);
    get_case third(c), fourth(c);
    CHECK(first.try_now());
    CHECK(first.take() == channel_status::success);
    CHECK(one == nullptr);
    CHECK_FALSE(second.try_now());
    CHECK(*two == 2);
    CHECK(third.try_now());
    CHECK(**third.take() == 1);
    CHECK_FALSE(fourth.try_now());
    c.close();
    CHECK(second.try_now());
    CHECK(second.take() == channel_status::closed);
    CHECK(fourth.try_now());
    CHECK(fourth.take().status() == channel_status::closed);
}

TEST_CASE(
    "of two cases of one choice in line only one is served, and the waiter behind the other is served, too") {
    virtual_time time;
    boxes a(1, time), b(1, time);
    chooser both(time), alone(time);
    get_case of_a(a), of_b(b), behind(b);
    CHECK(of_a.join(both.all, nullptr) == joined::waits);
    CHECK(of_b.join(both.all, nullptr) == joined::waits);
    CHECK(behind.join(alone.all, nullptr) == joined::waits);
    CHECK(a.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(a.size() == 0);
    CHECK(b.try_put(std::make_unique<int>(2)) == channel_status::success);
    CHECK(b.size() == 0);
    CHECK(of_a.is_of(both.all.winner()));
    CHECK(**of_a.take() == 1);
    CHECK(**behind.take() == 2);
    of_b.leave();
    CHECK(b.stats().num_get == 1);
    CHECK(a.try_put(std::make_unique<int>(3)) == channel_status::success);
    CHECK(a.size() == 1);
}

TEST_CASE("room goes to the waiter behind a case whose choice was claimed elsewhere") {
    virtual_time time;
    boxes a(1, time), b(1, time);
    CHECK(a.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(b.try_put(std::make_unique<int>(2)) == channel_status::success);
    chooser both(time), alone(time);
    box mine = std::make_unique<int>(3), also = std::make_unique<int>(4), other = std::make_unique<int>(5);
    put_case of_a(a, &mine), of_b(b, &also), behind(b, &other);
    CHECK(of_a.join(both.all, nullptr) == joined::waits);
    CHECK(of_b.join(both.all, nullptr) == joined::waits);
    CHECK(behind.join(alone.all, nullptr) == joined::waits);
    CHECK(**a.try_get() == 1);
    CHECK(mine == nullptr);
    CHECK(**b.try_get() == 2);
    CHECK(also != nullptr);
    CHECK(other == nullptr);
    CHECK(**b.try_get() == 5);
    of_b.leave();
}

TEST_CASE(
    "a case that has become possible is done when it would join the line, unless another was served before") {
    virtual_time time;
    boxes a(1, time), b(1, time);
    chooser first(time), second(time);
    CHECK(b.try_put(std::make_unique<int>(1)) == channel_status::success);
    get_case of_a(a), of_b(b);
    CHECK(of_a.join(first.all, nullptr) == joined::waits);
    CHECK(of_b.join(first.all, nullptr) == joined::done);
    CHECK(**of_b.take() == 1);
    CHECK(a.try_put(std::make_unique<int>(2)) == channel_status::success);
    CHECK(a.size() == 1);  // it was not handed over
    of_a.leave();
    CHECK(b.try_put(std::make_unique<int>(3)) == channel_status::success);
    static_cast<void>(second.all.claim(nullptr));
    get_case late(b);
    CHECK(late.join(second.all, nullptr) == joined::too_late);
    CHECK(b.size() == 1);
}

TEST_CASE("a close ends one case of a choice, and removes the others") {
    virtual_time time;
    boxes a(1, time);
    chooser both(time);
    get_case one(a), two(a);
    CHECK(one.join(both.all, nullptr) == joined::waits);
    CHECK(two.join(both.all, nullptr) == joined::waits);
    a.close();
    CHECK(one.is_of(both.all.winner()));
    CHECK(one.take().status() == channel_status::closed);
    two.leave();
}

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

TEST_CASE("a wait limit is none, a duration, or an instant") {
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
    "a choice that was served cancels its timer once, and so does one that is destroyed while it waits") {
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
