#include <weir/channel/choice.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/waiter.hpp>
#include <weir/executor/virtual_time.hpp>

#include <chrono>
#include <coroutine>

using namespace std::chrono_literals;
using weir::virtual_time;
using choice = weir::detail::basic_choice<weir::detail::standard_platform>;
using waiter = choice::waiter;

namespace {

const weir::time_point t0{};

// Is posted by what is tested.
actor counts(int& runs) {
    ++runs;
    co_return;
}

}  // namespace

TEST_CASE("the first one who claims a choice has it") {
    choice c;
    waiter a(nullptr, nullptr), b(nullptr, nullptr);
    CHECK_FALSE(c.is_claimed());
    CHECK(c.claim(&a));
    CHECK(c.is_claimed());
    CHECK_FALSE(c.claim(&b));
    CHECK_FALSE(c.claim(nullptr));
    CHECK(c.winner() == &a);
}

TEST_CASE(
    "who is woken before all waiters are in line goes on at once, and who is woken after that is posted") {
    for (const bool before : {true, false}) {
        virtual_time time;
        int runs = 0;
        actor a = counts(runs);
        choice c;
        c.begin(a.handle, time, nullptr);
        CHECK_FALSE(c.has_limit());
        waiter w(nullptr, nullptr);
        CHECK(c.claim(&w));
        if (before) {
            c.wake();
            CHECK_FALSE(c.is_in_line());
        } else {
            CHECK(c.is_in_line());
            c.wake();
        }
        time.run_until(t0);
        CHECK(runs == (before ? 0 : 1));
        CHECK(c.winner() == &w);
        CHECK(c.ran_out() == 0);
    }
}

TEST_CASE(
    "with a limit the timer alone posts, once, when it is over or when somebody wakes, also before it runs") {
    enum class order { woken_before, woken_in_time, never, claimed_too_late };
    for (const order when :
         {order::woken_before, order::woken_in_time, order::never, order::claimed_too_late}) {
        virtual_time time;
        int runs = 0;
        actor a = counts(runs);
        choice c;
        const weir::time_point limit = t0 + 5ms;
        c.begin(a.handle, time, &limit);
        CHECK(c.has_limit());
        waiter w(nullptr, nullptr);
        const auto answer = [&] {
            CHECK(c.claim(&w));
            c.wake();
        };
        if (when == order::woken_before) answer();
        CHECK(c.is_in_line());
        time.run_until(t0 + 1ms);
        CHECK(runs == (when == order::woken_before ? 1 : 0));
        if (when == order::woken_in_time) answer();
        time.run_until(t0 + 1s);
        CHECK(runs == 1);
        if (when == order::claimed_too_late) answer();  // it was posted, and doesn't know yet
        CHECK(c.winner() == (when == order::never ? nullptr : &w));
        const bool fired = when == order::never || when == order::claimed_too_late;
        CHECK(c.ran_out() == (fired ? 5'000'000 : 0));
        CHECK_FALSE(c.claim(&w));
    }
}

TEST_CASE("a stop claims it, unless somebody has") {
    using weir::detail::stopped_by;
    for (const auto& [answered, by] : {std::pair(false, stopped_by::run), std::pair(true, stopped_by::run),
                                       std::pair(false, stopped_by::request)}) {
        virtual_time time;
        int runs = 0;
        actor a = counts(runs);
        choice c;
        c.begin(a.handle, time, nullptr);
        CHECK(c.is_in_line());
        waiter w(nullptr, nullptr);
        if (answered) CHECK(c.claim(&w));
        c.stop(by);
        time.run_until(t0);
        CHECK(c.was_stopped(by) == !answered);
        CHECK(c.was_stopped(weir::detail::stopped_by::nobody) == answered);
        CHECK(runs == (answered ? 0 : 1));
    }
}

TEST_CASE("one that is abandoned is answered by nobody, and its timer posts nothing") {
    virtual_time time;
    int runs = 0;
    choice c;
    const weir::time_point limit = t0 + 5ms;
    {
        actor a = counts(runs);
        c.begin(a.handle, time, &limit);
        CHECK(c.is_in_line());
        c.abandon();
    }
    waiter w(nullptr, nullptr);
    CHECK_FALSE(c.claim(&w));
    time.run_until(t0 + 1s);
    CHECK(runs == 0);
}
