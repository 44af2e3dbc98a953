// The cost of an item from a source through three stages to a sink, without the work of the stages.
#include "scenario.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace bench::stages;

template <class Run>
weir::task<totals> consume(Run& run) {
    totals seen;
    while (true) {
        const auto x = co_await run.next();
        if (!x) break;
        seen.add(*x);
    }
    co_return seen;
}

template <class Policy>
void through_pipeline(weir::thread_pool& pool, const scenario& s, std::uint64_t n,
                      weir::output_order order = weir::output_order::completion) {
    const auto stage = [&s](item x) { return s.stage(x); };
    const weir::stage_options options{.concurrency = s.slots, .output_order = order, .capacity = s.capacity};
    auto pipeline = weir::source(std::views::iota(item{0}, n), {.capacity = s.capacity}) |
                    weir::pipe(stage, options) | weir::pipe(stage, options) | weir::pipe(stage, options) |
                    weir::sink(s.capacity);
    auto run = pipeline.template start<Policy>(pool);
    weir::sync_wait(pool, consume(run)).expect(n);
}

// The same with channels alone, without a pipeline. It has no sink, so one queue less.
using queue = weir::channel<item, weir::unmeasured>;

weir::task<> give(queue& out, std::uint64_t n) {
    for (item x = 0; x < n; ++x) {
        const bool taken = co_await out.put(x);
        if (!taken) break;
    }
    out.close();
}

weir::task<> slot(queue& in, queue& out, const scenario& s, std::atomic<std::size_t>& present) {
    while (true) {
        const auto x = co_await in.get();
        if (!x) break;
        item result = s.stage(*x);
        const bool taken = co_await out.put(std::move(result));
        if (!taken) break;
    }
    if (present.fetch_sub(1) == 1) out.close();
}

weir::task<> take(queue& in, totals& seen) {
    while (true) {
        const auto x = co_await in.get();
        if (!x) break;
        seen.add(*x);
    }
}

void by_hand(weir::thread_pool& pool, const scenario& s, std::uint64_t n) {
    std::array<queue, num_stages + 1> queues{queue(s.capacity), queue(s.capacity), queue(s.capacity),
                                             queue(s.capacity)};
    std::array<std::atomic<std::size_t>, num_stages> present{};
    totals seen;
    std::vector<weir::task<>> parts;
    parts.push_back(give(queues.front(), n));
    for (std::size_t i = 0; i < num_stages; ++i) {
        present[i] = s.slots;
        for (std::size_t j = 0; j < s.slots; ++j) {
            parts.push_back(slot(queues[i], queues[i + 1], s, present[i]));
        }
    }
    parts.push_back(take(queues.back(), seen));
    weir::sync_wait(pool, weir::when_all(std::move(parts)));
    seen.expect(n);
}

// Only the work of the stages, on as many threads.
void work_alone(const scenario& s, std::uint64_t n) {
    const auto share = [&s](std::uint64_t items) {
        for (std::uint64_t i = 0; i < items * num_stages; ++i) s.work();
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < s.workers; ++i) others.emplace_back(share, n / s.workers);
    share(n - n / s.workers * (s.workers - 1));
    for (std::thread& t : others) t.join();
}

std::string title(const scenario& s) {
    const std::string work = s.work_ns == 0      ? "no-op"
                             : s.work_ns < 1'000 ? std::to_string(int(s.work_ns)) + " ns"
                                                 : std::to_string(int(s.work_ns / 1'000)) + " us";
    return work + ", " + bench::count(s.slots, "slot") + ", capacity " + std::to_string(s.capacity) + ", " +
           bench::count(s.workers, "worker");
}

void compare(bench::session& session, const scenario& s) {
    if (!session.wants(title(s))) return;
    bench::group group(session, title(s), "an item");
    const auto pool = std::make_shared<weir::thread_pool>(s.workers);
    group.ours("weir", [=](std::uint64_t n) { through_pipeline<weir::unmeasured>(*pool, s, n); });
    group.ours("weir, measured", [=](std::uint64_t n) { through_pipeline<weir::measured>(*pool, s, n); });
    if (s.slots != 1) {
        constexpr auto in_order = weir::output_order::input;
        group.ours("weir, in order",
                   [=](std::uint64_t n) { through_pipeline<weir::unmeasured>(*pool, s, n, in_order); });
        group.ours("weir, in order, measured",
                   [=](std::uint64_t n) { through_pipeline<weir::measured>(*pool, s, n, in_order); });
    }
    if (s.work_ns == 0 && s.capacity == 64) {
        group.ours("weir by hand", [=](std::uint64_t n) { by_hand(*pool, s, n); });
    }
    if (s.work_ns != 0) {
        group.limit("the work alone", [=](std::uint64_t n) { work_alone(s, n); });
    }
    bench::contestants<scenario>::join(group, s);
    group.run();
}

// The best rate of SPDL's empty pipeline, measured elsewhere (it is a Python library).
void compare_with_spdl(bench::session& session) {
    constexpr double spdl = 8255;  // items a second
    const std::string what = "items a second of weir to SPDL's, no-op";
    if (!session.wants(what)) return;
    weir::thread_pool pool(1);
    constexpr std::uint64_t n = 100'000;
    double best = 0;
    for (int i = 0; i < 9; ++i) {
        const double start = bench::seconds_now();
        through_pipeline<weir::unmeasured>(pool, {}, n);
        best = std::max(best, static_cast<double>(n) / (bench::seconds_now() - start));
    }
    session.value(what, best / spdl, "times");
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("pipeline", argc, argv);
    for (const unsigned workers : session.workers()) {
        for (const std::size_t slots : {1U, 4U}) {
            for (const std::size_t capacity : {64U, 2U}) {
                compare(session, {.workers = workers, .slots = slots, .capacity = capacity});
            }
        }
        for (const double ns : {100.0, 500.0, 1'000.0, 10'000.0}) {
            for (const std::size_t capacity : {64U, 2U}) {
                compare(session, {.workers = workers, .capacity = capacity, .work_ns = ns});
            }
            // More than one slot can only help with more than one worker.
            if (workers > 1) compare(session, {.workers = workers, .slots = 4, .work_ns = ns});
        }
    }
    compare_with_spdl(session);
}
