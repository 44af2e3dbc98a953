// Coroutines of ours await what resumes them on somebody else's thread.
#include <weir/executor/schedule.hpp>
#include <weir/task/awaitable.hpp>

#include "support/catch.hpp"
#include "unit/interop/stand_ins.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <coroutine>
#include <ranges>
#include <stdexcept>
#include <vector>

using stand_ins::engine;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;
using ints = std::vector<int>;

namespace {

// Goes on on a thread of the engine, and gives a number or fails.
class elsewhere {
  public:
    explicit elsewhere(engine& e, int n = 0) noexcept : engine_(&e), n_(n) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const { engine_->resume(h); }
    int await_resume() const {
        if (n_ < 0) throw std::runtime_error("failed elsewhere");
        return n_;
    }

  private:
    engine* engine_;
    int n_;
};

bool runs_on(const weir::executor& ex) { return weir::detail::current_executor() == &ex; }

task<int> goes_elsewhere(engine& e, int n) {
    const int got = co_await elsewhere(e, n);
    if (weir::detail::current_executor() != nullptr) throw std::logic_error("not elsewhere");
    co_return got;
}

}  // namespace

TEST_CASE("a foreign awaiter leaves a task on its thread, and a yield brings it home") {
    thread_pool pool(1);
    engine driver;
    const auto leaves = [&]() -> task<int> {
        int seen = 0;
        co_await elsewhere(driver);
        seen += runs_on(pool) ? 0 : 1;
        co_await weir::yield();
        seen += runs_on(pool) ? 2 : 0;
        co_await elsewhere(driver);
        co_await weir::schedule(pool);
        seen += runs_on(pool) ? 4 : 0;
        co_return seen;
    };
    CHECK(sync_wait(pool, leaves()) == 7);
}

TEST_CASE("who awaits a task that ends on a foreign thread goes on at home, also if it has failed") {
    thread_pool pool(1);
    engine driver;
    const auto awaits = [&]() -> task<int> {
        int at_home = co_await goes_elsewhere(driver, 1);
        at_home += runs_on(pool) ? 2 : 0;
        try {
            co_await goes_elsewhere(driver, -1);
        } catch (const std::runtime_error&) {
            at_home += runs_on(pool) ? 4 : 0;
        }
        co_return at_home;
    };
    CHECK(sync_wait(pool, awaits()) == 7);
}

TEST_CASE("who awaits a generator, or several tasks, that go on elsewhere goes on at home") {
    thread_pool pool(1);
    engine driver;
    const auto counts = [&]() -> weir::async_generator<int> {
        const int one = co_await elsewhere(driver, 1);
        co_yield one;
        const int two = co_await elsewhere(driver, 2);
        co_yield two;
    };
    const auto awaits = [&]() -> task<ints> {
        ints seen;
        auto numbers = counts();
        while (const auto n = co_await numbers.next()) seen.push_back(runs_on(pool) ? *n : -*n);
        const auto [three, four] =
            co_await weir::when_all(goes_elsewhere(driver, 3), goes_elsewhere(driver, 4));
        seen.push_back(runs_on(pool) ? three : -three);
        seen.push_back(runs_on(pool) ? four : -four);
        co_return seen;
    };
    CHECK(sync_wait(pool, awaits()) == ints{1, 2, 3, 4});
}

TEST_CASE("a stage whose function gives a foreign awaiter works at home all the same") {
    thread_pool pool(2);
    engine driver;
    std::atomic<int> calls_elsewhere = 0;
    const auto asks = [&](int n) {
        if (!runs_on(pool)) ++calls_elsewhere;
        return elsewhere(driver, n);
    };
    const auto adds = [&](int n) {
        if (!runs_on(pool)) ++calls_elsewhere;
        return n + 1;
    };
    auto run = (weir::source(std::views::iota(-3, 20)) | weir::pipe(asks, {.max_failures = 3}) |
                weir::pipe(adds) | weir::sink())
                   .start(pool);
    ints all;
    for (const int n : run) all.push_back(n);
    ints expected;
    for (int n = 1; n <= 20; ++n) expected.push_back(n);
    CHECK(all == expected);
    CHECK(calls_elsewhere == 0);
}
