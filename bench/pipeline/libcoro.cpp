// libcoro: one coroutine per slot, over its ring buffers.
#include "scenario.hpp"

#include "common/libcoro.hpp"

#include <coro/sync_wait.hpp>
#include <coro/task.hpp>
#include <coro/when_all.hpp>

#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace {

using namespace bench::stages;
using coro::task;
using coro::thread_pool;

template <class Ring>
task<void> end(Ring& out, std::size_t readers) {
    for (std::size_t i = 0; i < readers; ++i) co_await out.produce(end_of_stream);
}

template <class Ring>
task<void> give(thread_pool& pool, Ring& out, std::uint64_t n, std::size_t readers) {
    co_await pool.schedule();
    for (item x = 0; x < n; ++x) co_await out.produce(x);
    co_await end(out, readers);
}

template <class Ring>
task<void> slot(thread_pool& pool, Ring& in, Ring& out, const scenario& s, std::atomic<std::size_t>& present,
                std::size_t readers) {
    co_await pool.schedule();
    while (true) {
        const auto x = co_await in.consume();
        if (*x == end_of_stream) break;
        const item result = s.stage(*x);
        co_await out.produce(result);
    }
    if (present.fetch_sub(1) == 1) co_await end(out, readers);
}

template <class Ring>
task<void> take(thread_pool& pool, Ring& in, totals& seen) {
    co_await pool.schedule();
    while (true) {
        const auto x = co_await in.consume();
        if (*x == end_of_stream) break;
        seen.add(*x);
    }
}

template <std::size_t Capacity>
void through_rings(thread_pool& pool, const scenario& s, std::uint64_t n) {
    std::array<coro::ring_buffer<item, Capacity>, num_stages + 1> rings;
    std::array<std::atomic<std::size_t>, num_stages> present{};
    totals seen;
    std::vector<task<void>> parts;
    parts.push_back(give(pool, rings.front(), n, s.slots));
    for (std::size_t i = 0; i < num_stages; ++i) {
        present[i] = s.slots;
        const std::size_t readers = i + 1 < num_stages ? s.slots : 1;
        for (std::size_t j = 0; j < s.slots; ++j) {
            parts.push_back(slot(pool, rings[i], rings[i + 1], s, present[i], readers));
        }
    }
    parts.push_back(take(pool, rings.back(), seen));
    coro::sync_wait(coro::when_all(std::move(parts)));
    seen.expect(n);
}

const bench::contestants<scenario> libcoro_contestants([](bench::group& group, const scenario& s) {
    const auto pool = bench::libcoro_pool(s.workers);
    group.peer("libcoro, ring_buffer", [=](std::uint64_t n) {
        bench::with_capacity<2, 64>(s.capacity, [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
            through_rings<N>(*pool, s, n);
        });
    });
});

}  // namespace
