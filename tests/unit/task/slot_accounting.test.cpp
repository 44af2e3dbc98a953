#include <weir/task/slot_accounting.hpp>

#include "support/catch.hpp"
#include "support/vanishing.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

using weir::detail::standard_platform;
using namespace std::chrono_literals;

TEST_CASE("a post to an executor of somebody else counts as a wake-up, one to the library's own doesn't") {
    const auto before = standard_platform::num_wakes();
    runs_within_post other;
    weir::detail::post_woken(other, std::noop_coroutine());
    CHECK(standard_platform::num_wakes() == before + 1);
    CHECK(other.posted == 1);
    weir::virtual_time time;
    weir::detail::post_woken(time, std::noop_coroutine());
    CHECK(standard_platform::num_wakes() == before + 1);
    time.run_until(time.now());
}

TEST_CASE("a slot is in overhead from its last reading on where a thread was woken, and only there") {
    weir::virtual_time time;
    const std::string name = "f";
    weir::detail::timed_slot<true> me(name, 0, time);
    me.begin(0);
    me.resumed(0);
    weir::detail::wake_others(me, [&] { time.run_until(time.now() + 5ns); });
    CHECK(me.state() == weir::detail::slot_state::run);
    weir::detail::wake_others(me, [&] {
        ++standard_platform::num_wakes();
        time.run_until(time.now() + 7ns);
    });
    CHECK(me.state() == weir::detail::slot_state::overhead);
    CHECK(me.is_in_overhead());
    me.enter_run(20);
    const auto spent = me.spent_until(20);
    CHECK(spent[static_cast<std::size_t>(weir::detail::slot_state::overhead)] == 20);
    CHECK_FALSE(me.is_in_overhead());
}

TEST_CASE("a function runs on if it awaits an object that refuses, by an exception, to suspend it") {
    struct refuses {
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("not now"); }
        void await_resume() const noexcept {}
    };
    weir::virtual_time time;
    const std::string name = "f";
    weir::detail::timed_slot<true> me(name, 0, time);
    me.begin(0);
    me.resumed(0);
    weir::detail::coroutine_env env{&time, &me, nullptr};
    weir::detail::observed<refuses> wait(refuses(), env);
    CHECK_THROWS_AS(wait.await_suspend(std::noop_coroutine()), std::runtime_error);
    CHECK(me.state() == weir::detail::slot_state::run);
}

TEST_CASE("a wait whose end another clock tells, behind the slot's, is no lack of threads") {
    using weir::detail::slot_state;
    const auto spent_in = [](slot_state state, std::int64_t ready) {
        weir::virtual_time time;
        const std::string name = "f";
        weir::detail::timed_slot<true> me(name, 0, time);
        me.begin(0);
        me.resumed(0);
        const weir::detail::coroutine_env env{&time, &me, nullptr};
        time.run_until(time.now() + 10ns);
        weir::detail::function_suspended(env, slot_state::await);
        time.run_until(time.now() + 5ns);
        weir::detail::function_resumed(env, ready);
        return me.spent_until(20)[static_cast<std::size_t>(state)];
    };
    for (const std::int64_t unknown :
         {INT64_MIN, std::int64_t(0), std::int64_t(9), std::int64_t(15), INT64_MAX}) {
        CHECK(spent_in(slot_state::await, unknown) == 5);
        CHECK(spent_in(slot_state::runnable, unknown) == 0);
    }
    CHECK(spent_in(slot_state::await, 10) == 0);
    CHECK(spent_in(slot_state::runnable, 10) == 5);
    CHECK(spent_in(slot_state::await, 12) == 2);
    CHECK(spent_in(slot_state::runnable, 12) == 3);
}
