#include <weir/task/join.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <utility>
#include <vector>

using weir::task;
using weir::when_all;

namespace {
task<int> leaves(int depth, bool waits) {
    if (depth == 0) {
        if (waits) co_await weir::yield();
        co_return 1;
    }
    std::vector<task<int>> three;
    for (int i = 0; i < 3; ++i) three.push_back(leaves(depth - 1, i == 1));
    const auto [a, b] = co_await when_all(leaves(depth - 1, waits), when_all(std::move(three)));
    co_return a + b[0] + b[1] + b[2];
}
}  // namespace

TEST_CASE(
    "each part of a tree ends once, though some wait between the ends of others, on one worker and on more") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        CAPTURE(workers);
        weir::thread_pool pool(workers);
        for (int round = 0; round < 10; ++round) REQUIRE(weir::sync_wait(pool, leaves(5, false)) == 1024);
    }
}

TEST_CASE("a part that waits after a join of its own doesn't hide the end of another part") {
    weir::thread_pool pool(1);
    weir::channel<int> first(1);
    bool joined = false;
    const auto gives = [&]() -> task<> { co_await first.put(1); };
    const auto nothing = []() -> task<> { co_return; };
    // Its join is complete but for what the worker owes while `waits` goes on there.
    const auto waits = [&]() -> task<> {
        const auto got = co_await first.get();
        CHECK(got == 1);
    };
    const auto whole = [&]() -> task<> {
        co_await when_all(nothing(), waits(), nothing(), gives());
        joined = true;
    };
    weir::sync_wait(pool, whole());
    CHECK(joined);
}

TEST_CASE("a coroutine that was posted runs before the next part that the worker itself has forked") {
    weir::thread_pool pool(1);
    std::vector<int> order;
    const auto posted = [&]() -> weir::task<> {
        order.push_back(0);
        co_return;
    };
    const auto part = [&](int n) -> task<> {
        order.push_back(n);
        co_return;
    };
    const auto yields = [&](int n) -> task<> {
        order.push_back(n);
        co_await weir::yield();
        order.push_back(10 * n);
    };
    const auto whole = [&]() -> task<> { co_await when_all(yields(1), part(2), part(3), posted()); };
    weir::sync_wait(pool, whole());
    CHECK(order == std::vector<int>{1, 10, 0, 3, 2});
}
