#include "scenario.hpp"

#include "common/cppcoro.hpp"

#include <cppcoro/sync_wait.hpp>
#include <cppcoro/task.hpp>
#include <cppcoro/when_all_ready.hpp>

#include <algorithm>

namespace {

using cppcoro::static_thread_pool;
template <class T>
using ring = bench::cppcoro_ring<T>;

template <class T>
struct one_by_one {
    static cppcoro::task<> produce(static_thread_pool& pool, ring<T>& out, std::uint64_t count) {
        co_await pool.schedule();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::size_t place = co_await out.room();
            set(out[place], i);
            out.wrote(place);
        }
    }
    static cppcoro::task<> consume(static_thread_pool& pool, ring<T>& in, std::uint64_t count, tally& sums) {
        co_await pool.schedule();
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            co_await in.available(i);
            sum += number(in[i]);
            in.took(i);
        }
        sums.add(sum);
    }
};

// At most half of the ring is written at once; everything available is read at once.
template <class T>
struct in_batches {
    static cppcoro::task<> produce(static_thread_pool& pool, ring<T>& out, std::uint64_t count,
                                   std::size_t batch) {
        co_await pool.schedule();
        for (std::uint64_t i = 0; i < count;) {
            const auto places = co_await out.room_for(std::min<std::uint64_t>(batch, count - i));
            for (const std::size_t place : places) set(out[place], i++);
            out.wrote(places.back());
        }
    }
    static cppcoro::task<> consume(static_thread_pool& pool, ring<T>& in, std::uint64_t count, tally& sums) {
        co_await pool.schedule();
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count;) {
            const std::size_t last = co_await in.available(i);
            while (i <= last) sum += number(in[i++]);
            in.took(last);
        }
        sums.add(sum);
    }
};

template <class T, class Way, class... Batch>
void pass(static_thread_pool& pool, const scenario<T>& s, std::uint64_t n, Batch... batch) {
    ring<T> items(s.capacity, pool);
    tally sums;
    cppcoro::sync_wait(
        cppcoro::when_all_ready(Way::produce(pool, items, n, batch...), Way::consume(pool, items, n, sums)));
    sums.check(n, 1);
}

struct cppcoro_rings {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        if (s.producers != 1 || s.consumers != 1) return;  // its sequences support only one consumer
        const auto pool = std::make_shared<static_thread_pool>(s.workers);
        g.peer("cppcoro, sequencer", [=](std::uint64_t n) { pass<T, one_by_one<T>>(*pool, s, n); });
        if (s.capacity < 64) return;
        const std::size_t batch = s.capacity / 2;
        g.peer("cppcoro, sequencer, in batches",
               [=](std::uint64_t n) { pass<T, in_batches<T>>(*pool, s, n, batch); });
    }
};

const for_all_items<cppcoro_rings> joined;

}  // namespace
