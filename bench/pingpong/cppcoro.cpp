#include "scenario.hpp"

#include "common/cppcoro.hpp"

#include <cppcoro/sync_wait.hpp>
#include <cppcoro/task.hpp>
#include <cppcoro/when_all_ready.hpp>

#include <memory>

namespace {

using cppcoro::static_thread_pool;
using ring = bench::cppcoro_ring<std::uint64_t>;

cppcoro::task<> ping(static_thread_pool& pool, ring& there, ring& back, std::uint64_t n, std::uint64_t& sum) {
    co_await pool.schedule();
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::size_t at = co_await there.room();
        there[at] = i;
        there.wrote(at);
        co_await back.available(i);
        sum += back[i];
        back.took(i);
    }
}

cppcoro::task<> pong(static_thread_pool& pool, ring& there, ring& back, std::uint64_t n) {
    co_await pool.schedule();
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await there.available(i);
        const std::uint64_t number = there[i];
        there.took(i);
        const std::size_t at = co_await back.room();
        back[at] = number + 1;
        back.wrote(at);
    }
}

void play(static_thread_pool& pool, std::uint64_t n) {
    ring there(1, pool);
    ring back(1, pool);
    std::uint64_t sum = 0;
    cppcoro::sync_wait(cppcoro::when_all_ready(ping(pool, there, back, n, sum), pong(pool, there, back, n)));
    check_replies(sum, n);
}

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    const auto pool = std::make_shared<static_thread_pool>(s.workers);
    g.peer("cppcoro, sequencer", [pool](std::uint64_t n) { play(*pool, n); });
});

}  // namespace
