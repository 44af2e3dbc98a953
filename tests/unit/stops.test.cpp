// What a stage's function waits for ends when its run is stopped.
#include <weir/run/run.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/route.hpp>
#include <weir/platform/parking.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using items::counted;
using items::ledger;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

constexpr weir::time_point t0{};

task<> rests() { co_await weir::sleep_for(1h); }

weir::async_generator<int> rests_between() {
    for (int i = 0;; ++i) {
        co_await rests();
        co_yield i;
    }
}

task<int> rests_in_parts(int n) {
    std::vector<task<>> several;
    several.push_back(rests());
    several.push_back(rests());
    co_await weir::when_all(std::move(several));
    co_await weir::when_all(weir::sleep_for(1h), rests());
    co_return n;
}

// Starts it, lets it work for a while, and stops it. What it waits for would take an hour or more.
template <class Pipeline>
weir::pipeline_stats stopped_after_a_second(const Pipeline& pipeline) {
    virtual_time time;
    bool told = false;
    weir::run_options options;
    options.on_failure = [&told](const weir::failure&) { told = true; };
    auto run = pipeline.start(time, options);
    time.run_until(t0 + 1s);
    run.stop();
    CHECK(time.now() == t0 + 1s);
    CHECK_FALSE(told);
    CHECK_FALSE(run.get().has_value());
    time.run();  // would throw if a coroutine were left
    CHECK(time.now() == t0 + 1s);
    return run.stats();
}

// Runs up to `steps` of what there is to do. False: nothing was left.
bool walk(virtual_time& time, int steps) {
    weir::detail::parker never;
    try {
        for (int i = 0; i < steps; ++i) time.drive(never, weir::time_point::max());
    } catch (const weir::deadlock_error&) {
        return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a stop ends the sleep of a stage's function at once, which is no failure") {
    const auto stats = stopped_after_a_second(weir::source(std::views::iota(0, 9)) |
                                              weir::pipe(
                                                  [](int n) -> task<int> {
                                                      co_await weir::sleep_for(1h);
                                                      co_return n;
                                                  },
                                                  {.name = "sleeps", .concurrency = 3}) |
                                              weir::sink());
    CHECK(stats.stages[1].num_tasks == 0);
    CHECK(stats.stages[1].num_failures == 0);
}

TEST_CASE("a stop ends the sleeps of tasks in tasks, of when_all's parts, and of generators") {
    stopped_after_a_second(weir::source(std::views::iota(0, 9)) | weir::pipe(rests_in_parts) | weir::sink());
    stopped_after_a_second(weir::source(&rests_between) | weir::sink());
    stopped_after_a_second(weir::source({1, 2}) | weir::pipe([](int) { return rests_between(); }) |
                           weir::sink());
}

TEST_CASE("a stop ends the wait of a chooser, of a retry, and of a run inside of a run") {
    stopped_after_a_second(weir::source({1, 2}) |
                           weir::route(
                               [](int) -> task<std::string> {
                                   co_await rests();
                                   co_return "one";
                               },
                               weir::branch("one"), weir::branch("two")) |
                           weir::sink());
    const auto fails = [](int) -> int { throw std::runtime_error("again"); };
    virtual_time time;
    auto retries =
        (weir::source({1, 2}) | weir::pipe(weir::retry(fails, {.attempts = 9, .delay = 1h})) | weir::sink())
            .start(time, {.on_failure = [](const weir::failure&) {}});
    time.run_until(t0 + 1s);
    retries.stop();
    CHECK(time.now() == t0 + 1s);

    virtual_time other;
    auto inner = (weir::source(&rests_between) | weir::sink()).start(other);
    auto outer = (weir::source(std::move(inner)) | weir::sink()).start(other);
    other.run_until(t0 + 1s);
    outer.stop();
    CHECK(other.now() == t0 + 1s);
}

TEST_CASE("a stop ends the waits of a stage's function for channels that go on without it") {
    virtual_time time;
    weir::channel<int> full(1, time), empty(1, time);
    static_cast<void>(full.try_put(0));
    const auto puts = [&](int n) -> task<int> {
        const bool taken = co_await full.put(std::move(n));
        co_return taken ? 1 : 0;
    };
    const auto gets = [&](int) -> task<int> {
        const std::optional<int> got = co_await empty.get();
        co_return got.value_or(-1);
    };
    const auto both = [&](int n) -> task<int> {
        if (n == 1) co_return co_await puts(n);
        co_return co_await gets(n);
    };
    {
        auto run =
            (weir::source({1, 2, 3}) | weir::pipe(both, {.concurrency = 3}) | weir::sink()).start(time);
        time.run_until(t0 + 1s);
        run.stop();
        CHECK(run.stats().stages[1].num_tasks == 0);
        CHECK(run.stats().stages[1].num_failures == 0);
    }
    CHECK_FALSE(full.closed());
    CHECK(full.size() == 1);
    CHECK(empty.try_put(7) == weir::channel_status::success);
    CHECK(empty.try_get().value() == 7);
}

TEST_CASE("an operation that was answered before the stop gives what it has") {
    virtual_time time;
    weir::channel<int> c(1, time);
    int got = 0;
    const auto gets = [&](int) -> task<int> {
        const std::optional<int> n = co_await c.get();
        got = n.value_or(-1);
        co_return got;
    };
    auto run = (weir::source({1}) | weir::pipe(gets) | weir::sink()).start(time);
    time.run_until(t0 + 1s);
    CHECK(c.try_put(7) == weir::channel_status::success);
    run.stop();
    CHECK(got == 7);
}

TEST_CASE("a function that is given a stop token of its own hears of it as before") {
    virtual_time time;
    bool finished = true;
    const auto asks = [&](int n, const weir::invocation& call) -> task<int> {
        finished = co_await weir::sleep_for(1h, call.stop());
        co_return n;
    };
    auto run = (weir::source({1}) | weir::pipe(asks) | weir::sink()).start(time);
    time.run_until(t0 + 1s);
    run.stop();
    CHECK_FALSE(finished);
    CHECK(time.now() == t0 + 1s);
}

TEST_CASE("errors that a function handles don't keep it, and what it needs for its end is destroyed") {
    virtual_time time;
    ledger book(10);
    int handled = 0;
    const auto stubborn = [&](counted c) -> task<counted> {
        const counted mine(book);
        for (int i = 0; i < 100; ++i) {
            try {
                co_await rests();
            } catch (const std::exception&) {
                ++handled;
            }
        }
        co_return c;
    };
    const auto made = [&book, left = 2]() mutable -> std::optional<counted> {
        if (left-- == 0) return std::nullopt;
        return counted(book);
    };
    auto run = (weir::source(made) | weir::pipe(stubborn) | weir::sink()).start(time);
    time.run_until(t0 + 1s);
    run.stop();
    CHECK(handled == 0);
    CHECK(book.born() == 3);
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("what was stopped is counted as neither a task nor a failure, and what fails after the stop is") {
    virtual_time time;
    weir::channel<int> signals(1, time);
    std::vector<std::string> told;
    const auto fails_late = [&](int n) -> task<int> {
        try {
            co_await rests();
        } catch (const weir::stopped&) {
            throw std::runtime_error("while it ended");
        }
        co_return n;
    };
    weir::run_options options;
    options.on_failure = [&told](const weir::failure& f) { told.push_back(f.stage); };
    auto run =
        (weir::source({1}) | weir::pipe(fails_late, {.name = "late"}) | weir::sink()).start(time, options);
    time.run_until(t0 + 1s);
    run.stop();
    CHECK(told == std::vector<std::string>{"late"});
    CHECK(run.stats().stages[1].num_failures == 1);
}

TEST_CASE("a run whose functions sleep is destroyed at each step, on a pool at any time") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        bool more = true;
        for (int steps = 0; more && steps < 200; ++steps) {
            ledger book(100);
            virtual_time time(seed);
            {
                auto run = (weir::source(std::views::iota(0, 6)) |
                            weir::pipe([&book](int) { return counted(book); }) |
                            weir::pipe(
                                [](counted c) -> task<counted> {
                                    co_await weir::when_all(weir::sleep_for(1s), rests_in_parts(1));
                                    co_return c;
                                },
                                {.concurrency = 2}) |
                            weir::sink())
                               .start(time);
                more = walk(time, steps);
            }
            if (book.alive() != 0 || book.died_twice() != 0) {
                FAIL("seed " << seed << ", " << steps << " steps: " << book.alive() << " are left, "
                             << book.died_twice() << " died twice");
            }
        }
    }
    weir::thread_pool pool(2);
    for (int i = 0; i < 200; ++i) {
        const auto rests_long = [](int n) -> task<int> {
            co_await weir::sleep_for(24h);
            co_return n;
        };
        auto run =
            (weir::source(std::views::iota(0)) | weir::pipe(rests_long, {.concurrency = 3}) | weir::sink())
                .start(pool);
        if (i % 2 == 0) run.stop();
    }
    SUCCEED();
}
