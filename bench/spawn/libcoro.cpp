#include <coro/sync_wait.hpp>
#include <coro/task.hpp>
#include <coro/task_group.hpp>
#include <coro/when_all.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/libcoro.hpp"
#include "scenario.hpp"

namespace spawn {
namespace {

using coro::task;
using coro::thread_pool;

// \param queued  whether other workers may take it; the last child of a task continues on its parent's worker
task<std::uint64_t> sum_leaves(thread_pool& pool, std::uint64_t first, std::uint64_t leaves, bool queued) {
    if (queued) co_await pool.schedule();
    if (leaves == 1) co_return first;
    const std::uint64_t each = leaves / fan_out;
    std::vector<task<std::uint64_t>> children;
    children.reserve(fan_out);
    for (unsigned i = 0; i < fan_out; ++i) {
        children.push_back(sum_leaves(pool, first + i * each, each, i + 1 < fan_out));
    }
    const auto results = co_await coro::when_all(std::move(children));
    std::uint64_t sum = 0;
    for (const auto& result : results) sum += result.return_value();
    co_return sum;
}

task<void> count(bench::tally& tally) {
    tally.count();
    co_return;
}

task<void> spawn_all(thread_pool& pool, bench::tally& tally, std::uint64_t tasks, bool inside) {
    if (inside) co_await pool.schedule();
    coro::task_group<thread_pool> group(&pool);
    for (std::uint64_t i = 0; i < tasks; ++i) {
        const bool started = group.start(count(tally));
        bench::check(started, "the pool takes tasks");
    }
    co_await group;
}

struct place {
    explicit place(unsigned workers) : pool(bench::libcoro_pool(workers)) {}
    std::shared_ptr<thread_pool> pool;
    bench::tally tally;
};

const bench::contestants<scenario> libcoro_tasks([](bench::group& group, const scenario& s) {
    // Tasks run in the order of posting, so a tree is walked breadth first: fib(30) would take 2 s.
    if (s.what == shape::fork_join || s.what == shape::wide_join) return;
    const auto here = std::make_shared<place>(s.workers);
    if (s.what == shape::skynet) {
        group.peer("libcoro, when_all", repeat(s, [here, s] {
                       return coro::sync_wait(sum_leaves(*here->pool, 0, s.size, true));
                   }));
        return;
    }
    group.peer("libcoro, task_group", repeat(s, [here, s] {
                   coro::sync_wait(spawn_all(*here->pool, here->tally, s.size, s.what == shape::inside));
                   return here->tally.take();
               }));
});

}  // namespace
}  // namespace spawn
