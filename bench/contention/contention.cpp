// How many atomic read-modify-writes an item costs at each stage. On many cores each of them fetches a cache line from
// another core, and that takes the time. Their number hardly depends on the number of cores: with as many workers it is
// about the same on 2 cores and on 16. All queues have 64 places, each stage has as many slots as the pool has workers.
//
// An entry into a lock is one read-modify-write; the exit is a plain store to the same cache line. A lock that is
// reserved for one thread costs none, but on many cores no reservation lasts. So the first figure is without any.
#include "common/harness.hpp"
#include "common/session.hpp"
#include "common/sum_of.hpp"
#include "counted_atomic.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::contention::access;
using bench::contention::counts;
using bench::contention::site;

constexpr std::size_t capacity = 64;

// Read-modify-writes, by their purpose.
struct tally {
    double all = 0, channels = 0, slots = 0;

    double others() const { return all - channels - slots; }
};

// An entry into a biased lock by its spin lock loads the lock's owner once. The level tells locks of channels (0, 1) from
// those of slots (2). Level 0 is also that of the lock of a worker's next coroutine, which stores that coroutine.
tally tally_of(const std::vector<site>& sites) {
    tally sum;
    for (const site& s : sites) {
        const auto count = static_cast<double>(s.count);
        if (s.how == access::read_modify_write) sum.all += count;
        if (s.how == access::load && s.is_in("basic_biased_lock") && s.is_in("::lock(")) {
            (s.is_in("Level = 2") ? sum.slots : sum.channels) += count;
        }
        if (s.how == access::store && s.is_in("::exchange_next(")) sum.channels -= count;
    }
    return sum;
}

// The places with the most read-modify-writes.
void list(const std::vector<site>& sites, double operations) {
    std::map<std::string, double> by_place;
    for (const site& s : sites) {
        if (s.how != access::read_modify_write) continue;
        const std::string file = s.where.file_name();
        by_place[file.substr(file.rfind('/') + 1) + ":" + std::to_string(s.where.line())] +=
            static_cast<double>(s.count) / operations;
    }
    for (const auto& [place, count] : by_place) {
        if (count >= 0.005) std::printf("    %-30s %8.3f\n", place.c_str(), count);
    }
}

// The pipeline of bench/pipeline, with as many slots of a stage as the pool has workers. Its operations: each of the four
// queues passes each item.
template <class Policy>
std::uint64_t pass_pipeline(unsigned workers, std::uint64_t n, const bench::work& work) {
    weir::thread_pool pool(workers);
    const auto stage = [&work](std::uint64_t x) {
        work();
        return x;
    };
    const weir::stage_options options{.concurrency = workers, .capacity = capacity};
    auto pipeline = weir::source(std::views::iota(std::uint64_t{0}, n), {.capacity = capacity}) |
                    weir::pipe(stage, options) | weir::pipe(stage, options) | weir::pipe(stage, options) |
                    weir::sink(capacity);
    auto run = pipeline.template start<Policy>(pool);
    bench::check(weir::sync_wait(pool, bench::sum_of(run)) == n * (n - 1) / 2, "each item comes out once");
    return 4 * n;
}

template <class Policy>
weir::task<> produce(weir::channel<std::uint64_t, Policy>& out, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await out.put(i);
}
template <class Policy>
weir::task<> consume(weir::channel<std::uint64_t, Policy>& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) static_cast<void>(co_await in.get());
}

template <class Policy>
std::uint64_t pass_channel(unsigned workers, std::uint64_t n, std::size_t ends) {
    weir::thread_pool pool(workers);
    weir::channel<std::uint64_t, Policy> items(capacity, pool);
    std::vector<weir::task<>> tasks;
    for (std::size_t i = 0; i < ends; ++i) {
        tasks.push_back(produce(items, n / ends));
        tasks.push_back(consume(items, n / ends));
    }
    weir::sync_wait(pool, weir::when_all(std::move(tasks)));
    return n / ends * ends;
}

// The counts of five rounds, the least first.
template <class Pass>
std::vector<tally> measure(const bench::session& session, std::uint64_t n, bool reserves, Pass pass) {
    constexpr int rounds = 5;
    bench::contention::reserves_locks = reserves;
    counts::take();  // those of other cases
    std::vector<tally> all;
    for (int i = 0; i < rounds; ++i) {
        const auto operations = static_cast<double>(pass(session.quick() ? n / 20 : n));
        const std::vector<site> sites = counts::take();
        tally one = tally_of(sites);
        one.all /= operations, one.channels /= operations, one.slots /= operations;
        all.push_back(one);
        if (session.takes_long() && !session.json() && !reserves && i == 0) list(sites, operations);
    }
    std::ranges::sort(all, {}, &tally::all);
    return all;
}

// `pass(n)` passes n items, and returns the number of operations. `key`: of the result for the document.
template <class Pass>
void report(bench::session& session, const std::string& title, const std::string& key, std::uint64_t n,
            Pass pass) {
    if (!session.wants(title)) return;
    const std::vector<tally> as_run = measure(session, n, true, pass);
    const std::vector<tally> in_turns = measure(session, n, false, pass);
    const tally& middle = in_turns[in_turns.size() / 2];
    const double run = as_run[as_run.size() / 2].all;
    session.result(key, middle.all);
    if (session.json()) {
        const auto add = [&](const char* what, double amount) {
            session.document().add_value(title + what, amount, "an item and stage");
        };
        add("", middle.all);
        add(", least", in_turns.front().all);
        add(", greatest", in_turns.back().all);
        add(", locks of channels", middle.channels);
        add(", locks of slots", middle.slots);
        add(", others", middle.others());
        add(", locks may be reserved", run);
        return;
    }
    std::printf("%-46s %6.2f [%4.2f, %5.2f] %8.2f %6.2f %6.2f %8.2f [%4.2f, %5.2f]\n", title.c_str(),
                middle.all, in_turns.front().all, in_turns.back().all, middle.channels, middle.slots,
                middle.others(), run, as_run.front().all, as_run.back().all);
    std::fflush(stdout);
}

template <class Pass, class MeasuredPass>
void compare(bench::session& session, const std::string& title, const std::string& key, std::uint64_t n,
             Pass off, MeasuredPass on) {
    report(session, title, key + "_rmw", n, off);
    report(session, title + ", measured", key + "_measured_rmw", n, on);
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("contention", argc, argv, {1, 2, 4, 16});
    if (!session.json()) {
        std::printf("%-46s %21s %8s %6s %6s %23s\n", "read-modify-writes an item and stage",
                    "no lock reserved", "channels", "slots", "others", "locks may be reserved");
    }
    const bench::work none(0);
    const bench::work some(500);
    for (const unsigned workers : session.workers()) {
        const std::string of = ", " + bench::count(workers, "worker");
        compare(
            session, "3 stages, no-op" + of, "no_op_stages", 100'000,
            [&](std::uint64_t n) { return pass_pipeline<weir::unmeasured>(workers, n, none); },
            [&](std::uint64_t n) { return pass_pipeline<weir::measured>(workers, n, none); });
        compare(
            session, "3 stages, 500 ns" + of, "half_us_stages", 50'000,
            [&](std::uint64_t n) { return pass_pipeline<weir::unmeasured>(workers, n, some); },
            [&](std::uint64_t n) { return pass_pipeline<weir::measured>(workers, n, some); });
        for (const std::size_t ends : {1U, 4U, 16U}) {
            const std::string sides = std::to_string(ends) + " to " + std::to_string(ends);
            compare(
                session, "channel, " + sides + of, "channel", 200'000,
                [&](std::uint64_t n) { return pass_channel<weir::unmeasured>(workers, n, ends); },
                [&](std::uint64_t n) { return pass_channel<weir::measured>(workers, n, ends); });
        }
    }
}
