#include <weir/task/foreign_awaitable_adapter.hpp>

#include "support/catch.hpp"
#include "unit/interop/stand_ins.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <memory>
#include <ranges>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <vector>

using stand_ins::just;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;
using ints = std::vector<int>;

static_assert(weir::awaitable<stand_ins::sender<int>>);
static_assert(std::is_same_v<weir::await_result_t<stand_ins::sender<int>>, int>);
static_assert(std::is_same_v<weir::await_result_t<stand_ins::just_nothing>, void>);
static_assert(!weir::detail::has_as_awaitable<task<int>>);

TEST_CASE("a sender that is made awaitable gives its value, its error, or says that it was stopped") {
    thread_pool pool(2);
    const auto adds = []() -> task<int> {
        const std::unique_ptr<int> moved = co_await just(std::make_unique<int>(2));
        co_await stand_ins::just_nothing();
        co_return co_await just(1) + *moved;
    };
    CHECK(sync_wait(adds()) == 3);
    CHECK(sync_wait(pool, just(4)) == 4);
    CHECK_THROWS_WITH(sync_wait(stand_ins::just_error()), "its own");
    try {
        sync_wait(stand_ins::just_stopped());
        FAIL("nothing was thrown");
    } catch (const std::system_error& e) {
        CHECK(e.code() == std::errc::operation_canceled);
    }
    auto [a, b] = sync_wait(weir::when_all(just(5), just(6)));
    CHECK(a + b == 11);
}

TEST_CASE("whoever completes a sender, the coroutine goes on on its own executor, and once") {
    stand_ins::engine engine;
    thread_pool pool(2);
    const auto awaits = [&]() -> task<int> {
        int sum = 0;
        for (int i = 0; i < 50; ++i) {
            sum += co_await stand_ins::just_on(engine, i);
            if (weir::detail::current_executor() != &pool) throw std::logic_error("elsewhere");
        }
        co_return sum;
    };
    CHECK(sync_wait(pool, awaits()) == 1'225);
}

TEST_CASE("senders that complete at once keep the stack flat") {
    const auto awaits = []() -> task<int> {
        int n = 0;
        for (int i = 0; i < 100'000; ++i) n += co_await just(1);
        co_return n;
    };
    CHECK(sync_wait(awaits()) == 100'000);
}

TEST_CASE(
    "a member as_awaitable goes before an operator co_await, and a stage's function may give a sender") {
    CHECK(sync_wait(stand_ins::both_ways()) == 1);
    weir::virtual_time time;
    auto run =
        (weir::source(std::views::iota(0, 3)) | weir::pipe([](int n) { return just(n * 10); }) | weir::sink())
            .start(time);
    ints all;
    for (const int n : run) all.push_back(n);
    CHECK(all == ints{0, 10, 20});
}
