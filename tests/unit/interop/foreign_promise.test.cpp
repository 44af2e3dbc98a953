// Coroutines of other libraries await what is ours.
#include <weir/executor/schedule.hpp>
#include <weir/task/awaitable.hpp>

#include "support/catch.hpp"
#include "unit/interop/stand_ins.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/platform/parking.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using stand_ins::bare;
using stand_ins::env_promise;
using stand_ins::transforming;
using weir::sync_wait;
using weir::task;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

weir::async_generator<int> counts(int n) {
    for (int i = 0; i < n; ++i) {
        co_await weir::yield();
        co_yield i;
    }
}

task<int> twice(int n) { co_return 2 * n; }

task<int> sleeps(int n) {
    co_await weir::sleep_for(1ms);
    co_return n;
}

// Every awaitable of the library, in a coroutine that knows nothing of it. It begins on the executor.
template <class Coroutine>
Coroutine awaits_all(weir::executor& ex, weir::executor& other, ints& seen, bool& done) {
    co_await weir::schedule(ex);
    weir::channel<int> numbers(1);
    seen.push_back(co_await numbers.put(2) ? 1 : 0);
    const std::optional<int> got = co_await numbers.get();
    seen.push_back(got.value());
    seen.push_back(co_await sleeps(3));
    seen.push_back(co_await twice(2));
    seen.push_back(co_await weir::sleep_for(1ms) ? 5 : 0);
    co_await weir::yield();
    weir::stop_source stop;
    stop.request_stop();
    seen.push_back(co_await weir::sleep_for(24h, stop.get_token()) ? 0 : 6);
    const std::optional<int> stopped = co_await numbers.get(stop.get_token());
    seen.push_back(stopped.has_value() ? 0 : 7);
    const ints both = co_await weir::when_all(stand_ins::two(sleeps(3), sleeps(5)));
    seen.push_back(both[0] + both[1]);
    weir::async_generator<int> generator = counts(2);
    while (const std::optional<int> n = co_await generator.next()) seen.push_back(9 + *n);
    weir::task_group group(ex);
    const auto adds = [&seen]() -> task<> {
        seen.push_back(11);
        co_return;
    };
    group.spawn(adds());
    co_await group.join();
    // A put that has to wait until another coroutine gets.
    co_await numbers.put(12);
    const auto takes = [&]() -> task<> {
        const std::optional<int> taken = co_await numbers.get();
        seen.push_back(taken.value());
    };
    group.spawn(takes());
    co_await numbers.put(13);
    co_await group.join();
    const std::optional<int> left = co_await numbers.get();
    seen.push_back(left.value());
    auto run = (weir::source(std::views::iota(14, 15)) | weir::pipe(sleeps) | weir::sink()).start(ex);
    const std::optional<int> item = co_await run.next();
    seen.push_back(item.value());
    co_await weir::schedule(other);
    seen.push_back(weir::detail::current_executor() == &other ? 15 : 0);
    done = true;
}

const ints one_to_fifteen = [] {
    ints all;
    for (int i = 1; i <= 15; ++i) all.push_back(i);
    return all;
}();

// Where a coroutine of that kind, begun on no executor, goes on after it has awaited this.
template <class Coroutine, class Make, class... Ex>
weir::executor* after(Make make, Ex&... home) {
    weir::executor* where = nullptr;
    weir::detail::parker done;
    const auto awaits = [&](Ex&...) -> Coroutine {
        co_await make();
        where = weir::detail::current_executor();
        done.set();
    };
    awaits(home...);
    while (!done.is_set()) {
        (home.drive(done, weir::time_point::max()), ...);
        if constexpr (sizeof...(Ex) == 0) done.wait();
    }
    return where;
}

}  // namespace

// Packages that test for senders do it like this: an awaiter that takes any handle is one, and what has an
// operator co_await; one that takes the handle of a promise of its own is none.
static_assert(stand_ins::awaitable_by<task<int>, env_promise>);
static_assert(stand_ins::awaitable_by<weir::schedule, env_promise>);
static_assert(stand_ins::awaitable_by<decltype(weir::sleep_for(1ms)), env_promise>);
static_assert(stand_ins::awaitable_by<decltype(weir::yield()), env_promise>);
static_assert(stand_ins::awaitable_by<decltype(std::declval<weir::channel<int>&>().put(1)), env_promise>);
static_assert(stand_ins::awaitable_by<decltype(std::declval<weir::channel<int>&>().get()), env_promise>);
static_assert(stand_ins::awaitable_by<decltype(std::declval<weir::channel<int>&>().get(weir::stop_token())),
                                      env_promise>);
static_assert(stand_ins::awaitable_by<decltype(weir::when_all(twice(1), twice(2))), env_promise>);
static_assert(stand_ins::awaitable_by<decltype(weir::when_all(std::vector<task<int>>())), env_promise>);
static_assert(
    stand_ins::awaitable_by<decltype(std::declval<weir::async_generator<int>&>().next()), env_promise>);
static_assert(stand_ins::awaitable_by<decltype(std::declval<weir::task_group&>().join()), env_promise>);
static_assert(stand_ins::awaitable_by<
              decltype(std::declval<weir::task_group&>().fork(task<>(std::declval<task<>>()))), env_promise>);
static_assert(!stand_ins::awaitable_by<stand_ins::choosy, env_promise>);
static_assert(!stand_ins::awaitable_by<int, env_promise>);

TEST_CASE("a coroutine with a promise that knows nothing of the library awaits all of it") {
    ints seen;
    bool done = false;
    weir::run_loop loop, second;
    weir::detail::parker flag;
    awaits_all<bare>(loop, second, seen, done);
    while (seen.size() < 14) loop.drive(flag, weir::time_point::max());
    while (!done) second.drive(flag, weir::time_point::max());
    CHECK(seen == one_to_fifteen);
}

TEST_CASE("so does one whose await_transform puts an awaiter of its own around each") {
    ints seen;
    bool done = false;
    weir::run_loop loop, second;
    weir::detail::parker flag;
    awaits_all<transforming>(loop, second, seen, done);
    while (seen.size() < 14) loop.drive(flag, weir::time_point::max());
    while (!done) second.drive(flag, weir::time_point::max());
    CHECK(seen == one_to_fifteen);
}

TEST_CASE("so does one that asks of what it awaits to take a handle of its own type, as Boost.Cobalt does") {
    ints seen;
    bool done = false;
    weir::run_loop loop, second;
    weir::detail::parker flag;
    awaits_all<stand_ins::cobalt_like>(loop, second, seen, done);
    while (seen.size() < 14) loop.drive(flag, weir::time_point::max());
    while (!done) second.drive(flag, weir::time_point::max());
    CHECK(seen == one_to_fifteen);
}

TEST_CASE(
    "whatever one awaits that no executor runs, it goes on where its promise says, else on our thread") {
    weir::run_loop own;
    const auto check = [&own](auto make) {
        CHECK(after<bare>(make) == &weir::detail::foreign_run_loop::get());
        CHECK(after<transforming>(make) == &weir::detail::foreign_run_loop::get());
        CHECK(after<stand_ins::cobalt_like>(make) == &weir::detail::foreign_run_loop::get());
        CHECK(after<stand_ins::of_an_executor>(make, own) == &own);
    };
    check([] { return weir::sleep_for(1ns); });
    check([] { return weir::yield(); });
    check([] { return weir::when_all(twice(1), twice(2)); });
    check([] { return weir::when_all(stand_ins::two(sleeps(3), sleeps(5))); });
    check([] { return sleeps(1); });
    auto sender = stand_ins::just(1);
    check([&sender] { return weir::detail::get_awaiter(std::move(sender)); });
}

TEST_CASE("so it does when it has waited for a group of tasks") {
    weir::thread_pool pool(1);
    weir::task_group group(pool);
    weir::channel<int> gate(1);
    weir::executor* where = nullptr;
    weir::detail::parker done;
    const auto waits = [&gate]() -> task<> { static_cast<void>(co_await gate.get()); };
    const auto joins = [&]() -> bare {
        co_await group.join();
        where = weir::detail::current_executor();
        done.set();
    };
    group.spawn(waits());
    joins();
    gate.close();
    while (!done.wait()) {
    }
    CHECK(where == &weir::detail::foreign_run_loop::get());
}

TEST_CASE("what need not wait is awaited without an executor, too") {
    ints seen;
    const auto awaits = [&]() -> bare {
        weir::channel<int> numbers(1);
        seen.push_back(co_await numbers.put(1) ? 1 : 0);
        const std::optional<int> taken = co_await numbers.get();
        seen.push_back(taken.value() + 1);
        seen.push_back(co_await twice(1) + 1);
    };
    awaits();
    CHECK(seen == ints{1, 2, 3});
}

TEST_CASE("one that no executor runs waits for a channel, and goes on on a thread of the library's own") {
    weir::channel<int> numbers(1);
    weir::detail::parker done;
    std::vector<std::thread::id> threads;
    const auto awaits = [&]() -> bare {
        co_await numbers.put(1);
        co_await numbers.put(2);  // waits
        threads.push_back(std::this_thread::get_id());
        while (const std::optional<int> n = co_await numbers.get()) {
            if (*n == 3) break;
        }
        threads.push_back(std::this_thread::get_id());
        co_await weir::yield();  // it has an executor now
        done.set();
    };
    awaits();
    CHECK(numbers.blocking_get().value() == 1);
    CHECK(numbers.blocking_put(3) == weir::channel_status::success);
    while (!done.wait()) {
    }
    REQUIRE(threads.size() == 2);
    CHECK(threads[0] != std::this_thread::get_id());
    CHECK(threads[1] == threads[0]);
}

TEST_CASE("one whose promise names an executor goes on there") {
    weir::run_loop loop;
    weir::channel<int> numbers(1);
    weir::executor* where = nullptr;
    const auto awaits = [&](weir::executor&) -> stand_ins::of_an_executor {
        const std::optional<int> n = co_await numbers.get();
        where = n == 1 ? weir::detail::current_executor() : nullptr;
    };
    awaits(loop);
    CHECK(numbers.try_put(1) == weir::channel_status::success);
    weir::detail::parker flag;
    loop.drive(flag, weir::time_point::max());
    CHECK(where == &loop);
}

TEST_CASE("one that returns to a scheduler of its own after each await does so after a wait, too") {
    stand_ins::thread_scheduler own;
    weir::channel<int> numbers(1);
    weir::detail::parker done;
    std::thread::id after;
    const auto awaits = [&](stand_ins::thread_scheduler&) -> stand_ins::affine {
        const std::optional<int> n = co_await numbers.get();
        if (n == 1) after = std::this_thread::get_id();
        done.set();
    };
    awaits(own);
    CHECK(numbers.blocking_put(1) == weir::channel_status::success);
    while (!done.wait()) {
    }
    CHECK(after == own.thread());
}
