// Lanes of runs that end while others still post to them, and under work of all kinds.
// SPDX-License-Identifier: BSL-1.0
#include <weir/run/priority_lanes.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

using weir::task;
using namespace std::chrono_literals;

TEST_CASE("lanes on a pool deliver everything, whatever their stages do") {
    weir::thread_pool pool(3);
    const auto waits = [](int n) -> task<int> {
        co_await weir::yield();
        if (n % 100 == 0) co_await weir::sleep_for(1us);
        co_return n;
    };
    const auto pipeline = weir::source(std::views::iota(0, 5'000)) | weir::pipe(waits, {.concurrency = 4}) |
                          weir::aggregate(3) | weir::disaggregate({.capacity = 1}) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 2, .capacity = 1}) |
                          weir::sink();
    for (int i = 0; i < 10; ++i) {
        auto run = pipeline.start(pool, {.later_stages_first = true});
        auto other = pipeline.start<weir::unmeasured>(pool, {.later_stages_first = true});
        CHECK(items::take_all(run).size() == 5'000);
        CHECK(items::take_all(other).size() == 5'000);
    }
}

TEST_CASE("a run is left while its lanes are at work") {
    weir::thread_pool pool(3);
    const auto pipeline = weir::source(std::views::iota(0)) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 3}) |
                          weir::pipe([](int n) { return n; }) | weir::sink();
    for (int i = 0; i < 300; ++i) {
        auto run = pipeline.start(pool, {.later_stages_first = true});
        for (int n = 0; n < i % 20; ++n) CHECK(run.get().has_value());
    }
}

TEST_CASE("a thread that wakes the last coroutine of a run may still be in the post when the run is gone") {
    weir::thread_pool pool(2);
    constexpr int rounds = 6'000;
    weir::channel<int> answers(4);
    std::atomic<int> asked{0};
    std::thread answering([&answers, &asked] {
        for (int i = 0; i < rounds; ++i) {
            // Two at a time, when somebody waits for them.
            while (asked < i / 2 * 2 + 2) std::this_thread::yield();
            int n = i;
            if (answers.blocking_put(std::move(n)) != weir::channel_status::success) return;
        }
    });
    const auto asks = [&answers, &asked](int) -> task<int> {
        ++asked;
        const std::optional<int> n = co_await answers.get();
        co_return *n;
    };
    int wrong = 0;
    for (int i = 0; i < rounds; i += 2) {
        auto run = (weir::source({0, 1}) | weir::pipe(asks, {.concurrency = 2}) | weir::sink())
                       .start(pool, {.later_stages_first = true});
        // The first answer calls a thread for the lanes; that takes the second one, too.
        const int sum = run.get().value() + run.get().value();
        if (sum != 2 * i + 1 || run.get()) ++wrong;
    }
    answering.join();
    CHECK(wrong == 0);
}
