#include "scenario.hpp"

#include "common/libcoro.hpp"

#include <coro/sync_wait.hpp>
#include <coro/task.hpp>
#include <coro/when_all.hpp>

namespace {

using ring = coro::ring_buffer<std::uint64_t, 1>;

coro::task<void> ping(coro::thread_pool& pool, ring& there, ring& back, std::uint64_t n, std::uint64_t& sum) {
    co_await pool.schedule();
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await there.produce(i);
        const auto number = co_await back.consume();
        sum += *number;
    }
}

coro::task<void> pong(coro::thread_pool& pool, ring& there, ring& back, std::uint64_t n) {
    co_await pool.schedule();
    for (std::uint64_t i = 0; i < n; ++i) {
        const auto number = co_await there.consume();
        co_await back.produce(*number + 1);
    }
}

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    const auto pool = bench::libcoro_pool(s.workers);
    g.peer("libcoro, ring_buffer", [pool](std::uint64_t n) {
        ring there;
        ring back;
        std::uint64_t sum = 0;
        coro::sync_wait(coro::when_all(ping(*pool, there, back, n, sum), pong(*pool, there, back, n)));
        check_replies(sum, n);
    });
});

}  // namespace
