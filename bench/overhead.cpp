// The cost of statistics: the same work with and without them, and with clocks of different cost.
#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/loop.hpp"
#include "common/sum_of.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/report/csv.hpp>
#include <weir/report/html.hpp>
#include <weir/report/metrics.hpp>
#include <weir/report/trace.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

namespace {

using item = std::uint64_t;

struct shape {
    std::size_t capacity;
    bench::work work{0.0};
};

template <class Policy>
void through_pipeline(weir::executor& ex, const shape& s, std::uint64_t n,
                      const weir::run_options& how = {}) {
    const auto stage = [&s](item x) {
        s.work();
        return x + 1;
    };
    const weir::stage_options options{.capacity = s.capacity};
    auto pipeline = weir::source(std::views::iota(item{0}, n), {.capacity = s.capacity}) |
                    weir::pipe(stage, options) | weir::pipe(stage, options) | weir::pipe(stage, options) |
                    weir::sink(s.capacity);
    auto run = pipeline.template start<Policy>(ex, how);
    const item sum = weir::sync_wait(ex, bench::sum_of(run));
    bench::check(sum == n * (n - 1) / 2 + 3 * n, "each item passes three stages, once");
}

template <class Policy>
weir::task<> give(weir::channel<item, Policy>& out, std::uint64_t n) {
    for (item x = 0; x < n; ++x) co_await out.put(x);
    out.close();
}

template <class Policy>
weir::task<item> take(weir::channel<item, Policy>& in) {
    item sum = 0;
    while (true) {
        const auto x = co_await in.get();
        if (!x) break;
        sum += *x;
    }
    co_return sum;
}

template <class Policy>
void through_channel(weir::executor& ex, const shape& s, std::uint64_t n) {
    weir::channel<item, Policy> channel(s.capacity, ex);
    const auto results = weir::sync_wait(ex, weir::when_all(give(channel, n), take(channel)));
    bench::check(std::get<1>(results) == n * (n - 1) / 2, "each item comes out, once");
}

// An executor with its own clock.
template <class Clock>
class loop final : public bench::loop {
  public:
    weir::time_point now() const noexcept override { return weir::time_point(weir::duration(clock_())); }

  private:
    Clock clock_;
};

// Each clock gives nanoseconds.
struct no_clock {
    std::int64_t operator()() const noexcept { return 0; }
};

struct steady_clock {
    std::int64_t operator()() const noexcept {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
};

#if defined(CLOCK_MONOTONIC_COARSE)
struct coarse_clock {
    std::int64_t operator()() const noexcept {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
        return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    }
};
#endif

#if defined(__x86_64__)
// The processor's counter, converted to nanoseconds by one multiplication.
class counter_clock {
  public:
    std::int64_t operator()() const noexcept {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::int64_t>((wide{__rdtsc()} * ns_2_to_the_32_) >> 32);
    }

  private:
    static double ns_a_tick() {
        const double start = bench::seconds_now();
        const std::uint64_t first = __rdtsc();
        while (bench::seconds_now() - start < 0.01) {
        }
        const auto ticks = static_cast<double>(__rdtsc() - first);
        return (bench::seconds_now() - start) * 1e9 / ticks;
    }
    std::uint64_t ns_2_to_the_32_ = static_cast<std::uint64_t>(ns_a_tick() * 4294967296.0);
};
#endif

// Adds a contestant for each clock: f.operator()<Clock>(name).
template <class F>
void for_each_clock(const F& f) {
    f.template operator()<no_clock>("a clock that stands still");
#if defined(CLOCK_MONOTONIC_COARSE)
    f.template operator()<coarse_clock>("coarse clock");
#endif
#if defined(__x86_64__)
    f.template operator()<counter_clock>("processor's counter");
#endif
    f.template operator()<steady_clock>("steady clock");
}

void read_clocks(bench::session& session) {
    bench::group group(session, "reading a clock, as the library does", "a reading");
    for_each_clock([&]<class Clock>(const char* name) {
        const auto ex = std::make_shared<loop<Clock>>();
        group.ours(name, [ex](std::uint64_t n) {
            weir::executor* any = ex.get();
            bench::keep(any);
            for (std::uint64_t i = 0; i < n; ++i) bench::keep(any->now());
        });
    });
    group.run();
    group.headline("clock_reading_ns", "steady clock");
}

// The cost of the accounts alone is the difference between no statistics and a clock that stands still; the cost
// of a clock is the difference between it and the one that stands still.
template <class Work>
void compare_clocks(bench::session& session, const std::string& title, const shape& s, const Work& work) {
    bench::group group(session, title + ", one thread, different clocks", "an item");
    const auto plain = std::make_shared<loop<steady_clock>>();
    group.ours("unmeasured", [=](std::uint64_t n) { work(weir::unmeasured(), *plain, s, n); });
    for_each_clock([&]<class Clock>(const char* name) {
        const auto ex = std::make_shared<loop<Clock>>();
        group.ours(std::string("summed, ") + name, [=](std::uint64_t n) { work(weir::summed(), *ex, s, n); });
        group.ours(std::string("measured, ") + name,
                   [=](std::uint64_t n) { work(weir::measured(), *ex, s, n); });
    });
    group.run();
}

// \param headline  the begin of the keys of summary figures; empty: none.
template <class Work>
void compare_policies(bench::session& session, const std::string& title, const shape& s, unsigned workers,
                      const Work& work, const std::string& headline = {}) {
    bench::group group(session, title + ", " + bench::count(workers, "worker"), "an item");
    const auto pool = std::make_shared<weir::thread_pool>(workers);
    group.ours("unmeasured", [=](std::uint64_t n) { work(weir::unmeasured(), *pool, s, n); });
    group.ours("summed", [=](std::uint64_t n) { work(weir::summed(), *pool, s, n); });
    group.ours("measured", [=](std::uint64_t n) { work(weir::measured(), *pool, s, n); });
    group.run();
    if (headline.empty()) return;
    for (const std::string policy : {"unmeasured", "summed", "measured"}) {
        group.headline(headline + "_" + policy + "_ns", policy);
    }
}

constexpr auto pipeline_work = []<class Policy>(Policy, weir::executor& ex, const shape& s, std::uint64_t n) {
    through_pipeline<Policy>(ex, s, n);
};
constexpr auto channel_work = []<class Policy>(Policy, weir::executor& ex, const shape& s, std::uint64_t n) {
    through_channel<Policy>(ex, s, n);
};

// For a run shorter than a lap: includes the output at its begin and end.
weir::run_options every_report() {
    const std::string at = (std::filesystem::temp_directory_path() / "weir_overhead").string();
    return {.lap = 250ms,
            .reports = {std::make_shared<weir::trace_report>(at + ".trace.json",
                                                             weir::trace_options{.every = 100}),
                        std::make_shared<weir::csv_report>(at + ".csv"),
                        std::make_shared<weir::run_recorder>(),
                        std::make_shared<weir::metrics_file>(at + ".prom")}};
}

// The cost of following items, and of all reports that write files, except the database.
void compare_reports(bench::session& session, const std::string& title, const shape& s, unsigned workers) {
    bench::group group(session, title + ", " + bench::count(workers, "worker"), "an item");
    const auto pool = std::make_shared<weir::thread_pool>(workers);
    group.ours("no report", [=](std::uint64_t n) { through_pipeline<weir::measured>(*pool, s, n); });
    for (const std::uint64_t every : {100U, 1U}) {
        group.ours("one of " + std::to_string(every) + " is followed", [=](std::uint64_t n) {
            const auto trace = std::make_shared<weir::trace_report>("", weir::trace_options{.every = every});
            through_pipeline<weir::measured>(*pool, s, n, {.reports = {trace}});
        });
    }
    group.ours("1000 invocations of each stage are kept",
               [=](std::uint64_t n) { through_pipeline<weir::measured>(*pool, s, n, {.recording = 1'000}); });
    group.ours("every report",
               [=](std::uint64_t n) { through_pipeline<weir::measured>(*pool, s, n, every_report()); });
    group.run();
}

// The difference between a stage's time and its function's own measurement with the executor's clock: the median in
// nanoseconds, including one clock reading. `how` has options of the stage; `end` takes the items.
struct own_clock {
    const char* end;
    weir::stage_options how = {};
};
void compare_own_clock(bench::session& session, const own_clock& with, unsigned workers) {
    const std::string title = std::string("task time beyond the function's own clock, median: ") + with.end +
                              ", " + bench::count(workers, "worker");
    if (!session.wants(title)) return;
    const std::size_t n = session.quick() ? 20'000 : 200'000;
    std::vector<std::int64_t> own(n);
    weir::thread_pool pool(workers);
    const auto function = [&](std::size_t i) {
        const weir::time_point begin = pool.now();
        bench::keep(i);
        own[i] = (pool.now() - begin).count();
        return i;
    };
    auto head = weir::source(std::views::iota(std::size_t{0}, n)) | weir::pipe(function, with.how);
    const std::string_view end = with.end;
    weir::pipeline_stats stats;
    if (end.starts_with("for_each")) {
        auto run = (head | weir::for_each([](std::size_t i) { bench::keep(i); })).start(pool);
        stats = run.wait().stats;
    } else if (end.starts_with("a coroutine")) {
        auto run = (head | weir::sink(2)).start(pool);
        weir::sync_wait(pool, bench::sum_of(run));
        stats = run.stats();
    } else {
        auto run = (head | weir::sink(2)).start(pool);
        for (const std::size_t i : run) bench::keep(i);
        stats = run.stats();
    }
    std::nth_element(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n / 2), own.end());
    const auto ours = stats.stages.at(1).task_times.quantile(0.5).count();
    session.value(title, static_cast<double>(ours - own[n / 2]), "ns");
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("overhead", argc, argv);
    const bench::work microsecond(1'000.0);
    for (const unsigned workers : session.workers()) {
        for (const std::size_t capacity : {64U, 2U}) {
            const std::string queues = ", capacity " + std::to_string(capacity);
            compare_policies(session, "channel" + queues, {capacity}, workers, channel_work);
            const bool is_first = workers == session.workers().front() && capacity == 64;
            compare_policies(session, "three no-op stages" + queues, {capacity}, workers, pipeline_work,
                             is_first ? "no_op" : "");
            compare_policies(session, "three stages of 1 us" + queues, {capacity, microsecond}, workers,
                             pipeline_work);
            compare_reports(session, "three stages of 1 us, reported" + queues, {capacity, microsecond},
                            workers);
        }
    }
    for (const unsigned workers : session.workers()) {
        compare_own_clock(session, {"a thread consumes"}, workers);
        compare_own_clock(session, {"a coroutine consumes"}, workers);
        compare_own_clock(session, {"for_each"}, workers);
        compare_own_clock(session, {"a thread consumes, four slots", {.concurrency = 4}}, workers);
        compare_own_clock(session,
                          {"a thread consumes, two slots in the order of the input",
                           {.concurrency = 2, .output_order = weir::output_order::input}},
                          workers);
    }
    read_clocks(session);
    for (const std::size_t capacity : {64U, 2U}) {
        const std::string queues = ", capacity " + std::to_string(capacity);
        compare_clocks(session, "channel" + queues, {capacity}, channel_work);
        compare_clocks(session, "three no-op stages" + queues, {capacity}, pipeline_work);
    }
}
