#include <cppcoro/async_scope.hpp>
#include <cppcoro/static_thread_pool.hpp>
#include <cppcoro/sync_wait.hpp>
#include <cppcoro/task.hpp>
#include <cppcoro/when_all.hpp>

#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace spawn {
namespace {

using cppcoro::static_thread_pool;
using cppcoro::task;

// \param queued  whether other workers may take it; the last child of a task continues on its parent's worker
task<std::uint64_t> fib(static_thread_pool& pool, std::uint64_t n, bool queued) {
    if (queued) co_await pool.schedule();
    if (n < 2) co_return n;
    const auto both = co_await cppcoro::when_all(fib(pool, n - 1, true), fib(pool, n - 2, false));
    co_return std::get<0>(both) + std::get<1>(both);
}

task<std::uint64_t> sum_leaves(static_thread_pool& pool, std::uint64_t first, std::uint64_t leaves,
                               bool queued) {
    if (queued) co_await pool.schedule();
    if (leaves == 1) co_return first;
    const std::uint64_t each = leaves / fan_out;
    std::vector<task<std::uint64_t>> children;
    children.reserve(fan_out);
    for (unsigned i = 0; i < fan_out; ++i) {
        children.push_back(sum_leaves(pool, first + i * each, each, i + 1 < fan_out));
    }
    const auto sums = co_await cppcoro::when_all(std::move(children));
    co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

task<> count(static_thread_pool& pool, bench::tally& tally) {
    co_await pool.schedule();
    tally.count();
}

task<> spawn_all(static_thread_pool& pool, bench::tally& tally, std::uint64_t tasks, bool inside) {
    if (inside) co_await pool.schedule();
    cppcoro::async_scope scope;
    for (std::uint64_t i = 0; i < tasks; ++i) scope.spawn(count(pool, tally));
    co_await scope.join();
}

struct place {
    explicit place(unsigned workers) : pool(workers) {}
    static_thread_pool pool;
    bench::tally tally;
};

std::uint64_t once(place& here, const scenario& s) {
    if (s.what == shape::fork_join) return cppcoro::sync_wait(fib(here.pool, s.size, true));
    if (s.what == shape::skynet) return cppcoro::sync_wait(sum_leaves(here.pool, 0, s.size, true));
    cppcoro::sync_wait(spawn_all(here.pool, here.tally, s.size, s.what == shape::inside));
    return here.tally.take();
}

const bench::contestants<scenario> cppcoro_tasks([](bench::group& group, const scenario& s) {
    if (s.what == shape::wide_join) return;
    const bool tree = s.what == shape::fork_join || s.what == shape::skynet;
    const auto here = std::make_shared<place>(s.workers);
    group.peer(tree ? "cppcoro, when_all" : "cppcoro, async_scope",
               repeat(s, [here, s] { return once(*here, s); }));
});

}  // namespace
}  // namespace spawn
