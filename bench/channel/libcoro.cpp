#include "scenario.hpp"

#include "common/libcoro.hpp"

#include <coro/sync_wait.hpp>
#include <coro/task.hpp>
#include <coro/when_all.hpp>

#include <type_traits>
#include <vector>

namespace {

template <class T, class Ring>
coro::task<void> produce(coro::thread_pool& pool, Ring& out, std::uint64_t count) {
    co_await pool.schedule();
    T item{};
    for (std::uint64_t i = 0; i < count; ++i) {
        set(item, i);
        co_await out.produce(std::move(item));
    }
}

template <class T, class Ring>
coro::task<void> consume(coro::thread_pool& pool, Ring& in, std::uint64_t count, tally& sums) {
    co_await pool.schedule();
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto item = co_await in.consume();
        sum += number(*item);
    }
    sums.add(sum);
}

template <class T, std::size_t Capacity>
void pass(coro::thread_pool& pool, const scenario<T>& s, std::uint64_t n) {
    using ring = coro::ring_buffer<T, Capacity>;
    const auto items = std::make_unique<ring>();
    tally sums;
    std::vector<coro::task<void>> tasks;
    for (std::size_t i = 0; i < s.producers; ++i) {
        tasks.push_back(produce<T>(pool, *items, share(n, s.producers, i)));
    }
    for (std::size_t i = 0; i < s.consumers; ++i) {
        tasks.push_back(consume<T>(pool, *items, share(n, s.consumers, i), sums));
    }
    coro::sync_wait(coro::when_all(std::move(tasks)));
    sums.check(n, s.producers);
}

struct libcoro_rings {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        const auto pool = bench::libcoro_pool(s.workers);
        g.peer("libcoro, ring_buffer", [=](std::uint64_t n) {
            const auto body = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
                pass<T, N>(*pool, s, n);
            };
            if constexpr (std::is_same_v<T, int>) {
                bench::with_capacity<1, 2, 64, 1024>(s.capacity, body);
            } else {
                bench::with_capacity<64>(s.capacity, body);
            }
        });
    }
};

const for_all_items<libcoro_rings> joined;

}  // namespace
