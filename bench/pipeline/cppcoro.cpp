// cppcoro: one coroutine per stage, over rings with its sequencers for one producer and one consumer.
#include "scenario.hpp"

#include "common/cppcoro.hpp"

#include <cppcoro/sync_wait.hpp>
#include <cppcoro/task.hpp>
#include <cppcoro/when_all_ready.hpp>

#include <memory>
#include <vector>

namespace {

using namespace bench::stages;
using cppcoro::static_thread_pool;
using cppcoro::task;
using ring = bench::cppcoro_ring<item>;

struct one_by_one {
    static task<> give(static_thread_pool& pool, ring& out, std::uint64_t n) {
        co_await pool.schedule();
        for (item x = 0; x <= n; ++x) {
            const std::size_t place = co_await out.room();
            out[place] = x < n ? x : end_of_stream;
            out.wrote(place);
        }
    }

    static task<> slot(static_thread_pool& pool, ring& in, ring& out, const scenario& s) {
        co_await pool.schedule();
        item x = 0;
        for (std::size_t next = 0; x != end_of_stream; ++next) {
            co_await in.available(next);
            x = in[next];
            in.took(next);
            const item result = x == end_of_stream ? x : s.stage(x);
            const std::size_t place = co_await out.room();
            out[place] = result;
            out.wrote(place);
        }
    }
};

// Reads everything available at once, and writes as much as there is room for at once.
struct in_batches {
    static task<> give(static_thread_pool& pool, ring& out, std::uint64_t n) {
        co_await pool.schedule();
        for (item x = 0; x <= n;) {
            const auto places = co_await out.room_for(n - x + 1);
            for (const std::size_t place : places) {
                out[place] = x < n ? x : end_of_stream;
                ++x;
            }
            out.wrote(places.back());
        }
    }

    static task<> slot(static_thread_pool& pool, ring& in, ring& out, const scenario& s) {
        co_await pool.schedule();
        item x = 0;
        for (std::size_t next = 0; x != end_of_stream;) {
            const std::size_t last = co_await in.available(next);
            while (next <= last) {
                const auto places = co_await out.room_for(last - next + 1);
                for (const std::size_t place : places) {
                    x = in[next++];
                    out[place] = x == end_of_stream ? x : s.stage(x);
                }
                out.wrote(places.back());
                in.took(next - 1);
            }
        }
    }
};

task<> take(static_thread_pool& pool, ring& in, totals& seen) {
    co_await pool.schedule();
    for (std::size_t next = 0;;) {
        const std::size_t last = co_await in.available(next);
        for (; next <= last; ++next) {
            if (in[next] == end_of_stream) co_return;
            seen.add(in[next]);
        }
        in.took(last);
    }
}

template <class Way>
void through_rings(static_thread_pool& pool, const scenario& s, std::uint64_t n) {
    std::vector<std::unique_ptr<ring>> rings;
    for (std::size_t i = 0; i <= num_stages; ++i) rings.push_back(std::make_unique<ring>(s.capacity, pool));
    totals seen;
    std::vector<task<>> parts;
    parts.push_back(Way::give(pool, *rings.front(), n));
    for (std::size_t i = 0; i < num_stages; ++i) {
        parts.push_back(Way::slot(pool, *rings[i], *rings[i + 1], s));
    }
    parts.push_back(take(pool, *rings.back(), seen));
    cppcoro::sync_wait(cppcoro::when_all_ready(std::move(parts)));
    seen.expect(n);
}

const bench::contestants<scenario> cppcoro_contestants([](bench::group& group, const scenario& s) {
    if (s.slots != 1) return;
    const auto pool = std::make_shared<static_thread_pool>(s.workers);
    group.peer("cppcoro, sequencers", [=](std::uint64_t n) { through_rings<one_by_one>(*pool, s, n); });
    if (s.capacity < 64) return;
    group.peer("cppcoro, sequencers, in batches",
               [=](std::uint64_t n) { through_rings<in_batches>(*pool, s, n); });
});

}  // namespace
