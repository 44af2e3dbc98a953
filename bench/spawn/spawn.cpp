// The cost of a task: spawned one by one, forked and joined, and in wide trees.
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <latch>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace spawn {
namespace {

// Each contestant's own.
struct place {
    explicit place(unsigned workers) : pool(workers) {}
    weir::thread_pool pool;
    bench::tally tally;
};

weir::task<> count(bench::tally& tally) {
    tally.count();
    co_return;
}

weir::task<> count_all(bench::tally& tally, std::uint64_t tasks) {
    std::vector<weir::task<>> parts;
    parts.reserve(tasks);
    for (std::uint64_t i = 0; i < tasks; ++i) parts.push_back(count(tally));
    co_await weir::when_all(std::move(parts));
}

weir::task<> spawn_all(weir::task_group& group, bench::tally& tally, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks; ++i) group.spawn(count(tally));
    co_await group.join();
}

weir::task<> fork_all(weir::task_group& group, bench::tally& tally, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks; ++i) co_await group.fork(count(tally));
    co_await group.join();
}

// A detached coroutine, for a thread that spawns and continues.
struct detached {
    struct promise_type {
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

detached count_on(weir::executor& executor, bench::tally& tally, std::latch& left) {
    co_await weir::schedule(executor);
    tally.count();
    left.count_down();
}

weir::task<std::uint64_t> fib(std::uint64_t n) {
    if (n < 2) co_return n;
    const auto both = co_await weir::when_all(fib(n - 1), fib(n - 2));
    co_return std::get<0>(both) + std::get<1>(both);
}

weir::task<std::uint64_t> sum_leaves(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) co_return first;
    std::vector<weir::task<std::uint64_t>> children;
    children.reserve(fan_out);
    const std::uint64_t each = leaves / fan_out;
    for (unsigned i = 0; i < fan_out; ++i) children.push_back(sum_leaves(first + i * each, each));
    const auto sums = co_await weir::when_all(std::move(children));
    co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

weir::task<> join_again(bench::tally& tally, std::uint64_t tasks, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) co_await count_all(tally, tasks);
}

void add_weir(bench::group& group, const scenario& s) {
    const auto here = std::make_shared<place>(s.workers);
    const std::uint64_t size = s.size;
    switch (s.what) {
        case shape::outside:
            group.ours("weir, schedule", repeat(s, [here, size] {
                           std::latch left(static_cast<std::ptrdiff_t>(size));
                           for (std::uint64_t i = 0; i < size; ++i) count_on(here->pool, here->tally, left);
                           left.wait();
                           return here->tally.take();
                       }));
            group.ours("weir, task_group spawn", repeat(s, [here, size] {
                           weir::task_group tasks(here->pool);
                           for (std::uint64_t i = 0; i < size; ++i) tasks.spawn(count(here->tally));
                           weir::sync_wait(here->pool, tasks.join());
                           return here->tally.take();
                       }));
            return;
        case shape::inside:
            group.ours("weir, when_all", repeat(s, [here, size] {
                           weir::sync_wait(here->pool, count_all(here->tally, size));
                           return here->tally.take();
                       }));
            group.ours("weir, task_group spawn", repeat(s, [here, size] {
                           weir::task_group tasks(here->pool);
                           weir::sync_wait(here->pool, spawn_all(tasks, here->tally, size));
                           return here->tally.take();
                       }));
            group.ours("weir, task_group fork", repeat(s, [here, size] {
                           weir::task_group tasks(here->pool);
                           weir::sync_wait(here->pool, fork_all(tasks, here->tally, size));
                           return here->tally.take();
                       }));
            return;
        case shape::fork_join:
            group.ours("weir, when_all",
                       repeat(s, [here, size] { return weir::sync_wait(here->pool, fib(size)); }));
            return;
        case shape::skynet:
            group.ours("weir, when_all",
                       repeat(s, [here, size] { return weir::sync_wait(here->pool, sum_leaves(0, size)); }));
            return;
        case shape::wide_join:
            group.ours("weir, when_all", [here, size](std::uint64_t n) {
                weir::sync_wait(here->pool, join_again(here->tally, size, n / size));
                bench::check(here->tally.take() == n, "spawn");
            });
            return;
    }
}

[[gnu::noinline]] std::uint64_t fib_calls(std::uint64_t n) {
    bench::keep(n);
    return n < 2 ? n : fib_calls(n - 1) + fib_calls(n - 2);
}

[[gnu::noinline]] std::uint64_t sum_calls(std::uint64_t first, std::uint64_t leaves) {
    bench::keep(first);
    if (leaves == 1) return first;
    const std::uint64_t each = leaves / fan_out;
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < fan_out; ++i) sum += sum_calls(first + i * each, each);
    return sum;
}

struct owned {
    struct promise_type {
        owned get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

[[gnu::noinline]] owned count_owned(bench::tally& tally) {
    tally.count();
    co_return;
}

// One after the other on this thread: nothing is queued, and nobody is woken.
void add_limit(bench::group& group, const scenario& s) {
    const std::uint64_t size = s.size;
    if (s.what == shape::fork_join) {
        group.limit("calls of a function", repeat(s, [size] { return fib_calls(size); }));
    } else if (s.what == shape::skynet) {
        group.limit("calls of a function", repeat(s, [size] { return sum_calls(0, size); }));
    } else {
        group.limit("create, resume, destroy a coroutine",
                    repeat(s, [size, tally = std::make_shared<bench::tally>()] {
                        for (std::uint64_t i = 0; i < size; ++i) {
                            const owned one = count_owned(*tally);
                            one.handle.resume();
                            one.handle.destroy();
                        }
                        return tally->take();
                    }));
    }
}

struct setting {
    shape what;
    std::string title;
    std::string operation;
    std::uint64_t size;
};

std::vector<setting> settings(bool quick) {
    const std::string power = quick ? "10^4" : "10^6";
    const std::string n = quick ? "20" : "30";
    const std::uint64_t many = quick ? 10'000 : 1'000'000;
    return {{shape::outside, power + " tasks from outside of the pool", "a task", many},
            {shape::inside, power + " tasks from a task", "a task", many},
            {shape::fork_join, "fib(" + n + "), a task a call", "a call", quick ? 20U : 30U},
            {shape::skynet, "skynet, " + power + " leaves", "a leaf", many},
            {shape::wide_join, "waits for 1000 tasks", "a task", 1000}};
}

}  // namespace
}  // namespace spawn

int main(int argc, char** argv) {
    bench::session session("spawn", argc, argv);
    for (const spawn::setting& g : spawn::settings(session.quick())) {
        for (const unsigned workers : session.workers()) {
            const std::string title = g.title + ", " + bench::count(workers, "worker");
            if (!session.wants(title)) continue;
            const spawn::scenario scenario{g.what, workers, g.size};
            bench::group group(session, title, g.operation);
            group.smallest(scenario.unit());
            spawn::add_weir(group, scenario);
            bench::contestants<spawn::scenario>::join(group, scenario);
            spawn::add_limit(group, scenario);
            group.run();
        }
    }
}
