#include <weir/insight/recording.hpp>

#include <weir/insight/predict.hpp>
#include <weir/weir.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/recordings.hpp"

using Catch::Approx;
using namespace std::chrono_literals;
using weir::pipeline_settings;
using weir::recording;
using weir::stage_role;

namespace {

std::vector<weir::duration> exponential_times() {
    std::vector<weir::duration> times;
    std::mt19937_64 random(5);
    std::exponential_distribution<double> time(1);
    for (int i = 0; i < 3'000; ++i) times.emplace_back(static_cast<std::int64_t>(1e7 * time(random)));
    return times;
}

weir::task<int> sleep_and_give(int k, const std::vector<weir::duration>* times) {
    co_await weir::sleep_for((*times)[static_cast<std::size_t>(k) % times->size()]);
    co_return k;
}

template <class Run>
weir::task<weir::pipeline_stats> consume(Run& run, weir::duration each) {
    while (true) {
        const auto item = co_await run.next();
        if (!item) break;
        co_await weir::sleep_for(each);
    }
    co_return run.stats();
}

template <class Pipeline>
weir::pipeline_stats stats_of(const Pipeline& pipeline, weir::duration consumer = 0ms) {
    weir::virtual_time clock;
    auto run = pipeline.start(clock);
    return weir::sync_wait(clock, consume(run, consumer));
}

}  // namespace

TEST_CASE("a recording has the stages of the run, their settings and their times") {
    const std::vector<weir::duration> times{10ms, 20ms};
    const auto work = [&times](int k) { return sleep_and_give(k, &times); };
    const recording all =
        weir::record_of(stats_of(weir::source(std::views::iota(0, 200)) |
                                     weir::pipe(work, {.name = "work", .concurrency = 3, .capacity = 5}) |
                                     weir::aggregate(4, {.name = "batch"}) | weir::sink(7),
                                 1ms));
    REQUIRE(all.settings.stages.size() == 5);
    CHECK(all.settings.stages[0].role == stage_role::source);
    CHECK(all.settings.stages[1].name == "work");
    CHECK(all.settings.stages[1].role == stage_role::function);
    CHECK(all.settings.stages[1].concurrency == 3);
    CHECK(all.settings.stages[1].capacity == 5);
    CHECK(all.settings.stages[2].role == stage_role::aggregate);
    CHECK(all.settings.stages[2].batch_size == 4);
    CHECK(all.settings.stages[3].role == stage_role::sink);
    CHECK(all.settings.stages[3].capacity == 7);
    CHECK(all.settings.stages[4].role == stage_role::consumer);
    CHECK(all.num_items == 50);

    weir::duration sum{};
    for (const weir::recorded_task& each : all.stages[1].tasks) {
        sum += each.await;
        CHECK(each.run == 0ms);
        CHECK(each.results == 1);
    }
    CHECK(all.stages[1].num_tasks == 200);
    CHECK(sum / 200 == 15ms);
    REQUIRE(all.stages[4].tasks.size() == 1);
    CHECK(all.stages[4].tasks[0].run == 1ms);
}

TEST_CASE("the times of a recording have the distribution of the run") {
    const std::vector<weir::duration> times = exponential_times();
    const auto work = [&times](int k) { return sleep_and_give(k, &times); };
    const weir::pipeline_stats stats =
        stats_of(weir::source(std::views::iota(0, 3'000)) | weir::pipe(work, {.name = "a"}) |
                 weir::pipe(work, {.name = "b"}) | weir::sink());
    const recording all = weir::record_of(stats);
    std::vector<weir::duration> sample;
    for (const weir::recorded_task& each : all.stages[1].tasks) sample.push_back(each.run + each.await);
    std::ranges::sort(sample);
    for (const double q : {0.1, 0.5, 0.9, 0.99}) {
        const auto at = sample[static_cast<std::size_t>(q * static_cast<double>(sample.size()))];
        CHECK(static_cast<double>(at.count()) ==
              Approx(static_cast<double>(stats.stages[1].task_times.quantile(q).count())).epsilon(0.05));
    }
    CHECK(weir::predict(all.settings, all, {.items = 20'000, .skipped = 1'000}).rate ==
          Approx(all.rate).epsilon(0.05));
}

TEST_CASE(
    "a stage that drops items, and one that gives several, are recorded with their numbers of results") {
    const recording all = weir::record_of(stats_of(
        weir::source(std::views::iota(0, 300)) |
        weir::filter([](int k) { return k % 3 == 0; }, {.name = "some"}) |
        weir::flat_map([](int k) { return std::vector<int>{k, k}; }, {.name = "twice"}) | weir::sink()));
    const auto results = [&all](std::size_t stage) {
        double sum = 0;
        for (const weir::recorded_task& each : all.stages[stage].tasks) sum += each.results;
        return sum / static_cast<double>(all.stages[stage].tasks.size());
    };
    CHECK(results(1) == Approx(1.0 / 3).epsilon(0.01));
    CHECK(results(2) == Approx(2));
    recording whole = all;
    whole.settings.num_items = 300;
    CHECK(weir::predict(whole.settings, whole).num_items == 200);
}

TEST_CASE("a recording has the order of a stage, and the threads of each executor") {
    const std::vector<weir::duration> times{1ms};
    const auto work = [&times](int k) { return sleep_and_give(k, &times); };
    const auto ordered = weir::source(std::views::iota(0, 60)) |
                         weir::pipe(work, {.concurrency = 3, .output_order = weir::output_order::input}) |
                         weir::sink(1);
    CHECK(weir::record_of(stats_of(ordered)).settings.stages[1].output_order == weir::output_order::input);
    CHECK(weir::record_of(stats_of(ordered)).settings.pools[0] == 0);  // virtual time

    weir::thread_pool pool(3);
    weir::blocking_pool blocking(2);
    const auto same = [](int k) { return k; };
    auto run = (weir::source(std::views::iota(0, 60)) | weir::pipe(same, {.executor = &blocking}) |
                weir::pipe(same) | weir::pipe(same, {.executor = &blocking}) | weir::sink())
                   .start(pool);
    while (run.get()) {
    }
    const recording all = weir::record_of(run.stats());
    CHECK(all.settings.stages[1].output_order == weir::output_order::completion);
    const auto threads = [&all](std::size_t stage) {
        return all.settings.pools[all.settings.stages[stage].pool];
    };
    CHECK(threads(0) == 3);
    CHECK(threads(1) == 2);
    CHECK(threads(2) == 3);
    CHECK(all.settings.stages[0].pool == all.settings.stages[2].pool);
    CHECK(all.settings.stages[1].pool == all.settings.stages[3].pool);
}

TEST_CASE("the time in which a function had no thread is not part of its recorded times") {
    weir::stage_stats source;
    source.name = "src";
    source.kind = "source";
    source.outputs = {0};
    weir::stage_stats stage;
    stage.name = "a";
    stage.kind = "pipe";
    stage.inputs = {0};
    stage.outputs = {1};
    stage.num_tasks = 10;
    for (int i = 0; i < 10; ++i) stage.task_times.record(20ms);
    stage.task_time = 200ms;
    weir::slot_times spent;
    spent.run = 10ms;
    spent.await = 40ms;
    spent.runnable = 150ms;
    stage.per_slot = {spent};
    stage.busy = spent.busy();
    weir::pipeline_stats stats;
    stats.stages = {source, stage};
    stats.channels.resize(2);
    stats.channels[1].num_put = 10;
    stats.num_items = 10;
    const recording all = weir::record_of(stats);
    for (const weir::recorded_task& each : all.stages[1].tasks) {
        CHECK(static_cast<double>(each.run.count()) == Approx(1e6).epsilon(0.01));
        CHECK(static_cast<double>(each.await.count()) == Approx(4e6).epsilon(0.01));
    }
}

TEST_CASE("what a consumer does before its first item is not part of its time") {
    weir::virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 100)) | weir::sink()).start(clock);
    clock.run_until(weir::time_point(10s));
    std::size_t taken = 0;
    while (run.get()) clock.run_until(weir::time_point(10s + 1ms * ++taken));
    const weir::recorded_stage consumer = weir::record_of(run.stats()).stages.back();
    CHECK(static_cast<double>(consumer.tasks.at(0).run.count()) == Approx(1e6).epsilon(0.02));
}

TEST_CASE("a consumer that begins late, and then waits for a slow stage, is not recorded as slow") {
    weir::virtual_time clock;
    const auto slow = [](int k) -> weir::task<int> {
        co_await weir::sleep_for(100ms);
        co_return k;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(slow, {.name = "slow"}) | weir::sink())
                   .start(clock);
    clock.run_until(weir::time_point(5s));
    while (run.get()) clock.run_until(clock.now() + 10ms);
    const weir::recorded_stage consumer = weir::record_of(run.stats()).stages.back();
    CHECK(static_cast<double>(consumer.tasks.at(0).run.count()) == Approx(1e7).epsilon(0.2));
    CHECK_FALSE(weir::detail::limit_by_states(run.stats()).cause == weir::limit_cause::consumer);
}

TEST_CASE("a recording tells which stages can have more slots") {
    weir::virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 60)) | weir::pipe([](int k) { return k; }) | weir::take(50) |
                weir::aggregate(2) | weir::sink())
                   .start(clock);
    while (run.get()) {
    }
    const recording all = weir::record_of(run.stats());
    std::vector<bool> resizable;
    for (const weir::stage_settings& each : all.settings.stages) resizable.push_back(each.is_resizable);
    CHECK(resizable == std::vector<bool>{false, true, false, false, true, true});
}

TEST_CASE("the recorded times of a run are those of its functions, also if few threads run many slots") {
    weir::thread_pool pool(1);
    std::atomic<int> worked{0};
    const auto compute = [&worked](int n) -> weir::task<int> {
        for (int part = 0; part < 3; ++part) {
            co_await weir::yield();
            for (int i = 0; i < 5'000; ++i) worked.fetch_add(1, std::memory_order_relaxed);
        }
        co_return n;
    };
    auto run =
        (weir::source(std::views::iota(0, 200)) | weir::pipe(compute, {.concurrency = 16}) | weir::sink())
            .start(pool);
    while (run.get()) {
    }
    const weir::pipeline_stats stats = run.stats();
    const weir::stage_stats& stage = stats.stages[1];
    CHECK(stage.task_time > 2 * stage.busy);  // 15 slots of 16 wait for the thread
    weir::duration recorded{};
    const recording all = weir::record_of(stats);
    for (const weir::recorded_task& each : all.stages[1].tasks) recorded += each.run + each.await;
    CHECK(static_cast<double>(recorded.count()) ==
          Approx(static_cast<double>(stage.busy.count())).epsilon(0.01));
}

TEST_CASE("a pipeline that ends with a for_each gets a sink and a consumer that take no time") {
    weir::virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 50)) | weir::for_each([](int) {})).start(clock);
    run.wait();
    const recording all = weir::record_of(run.stats());
    REQUIRE(all.settings.stages.size() == 4);
    CHECK(all.settings.stages[1].role == stage_role::function);
    CHECK(all.settings.stages[3].role == stage_role::consumer);
    CHECK(all.stages[3].tasks.empty());
}

TEST_CASE("with samples, each item of a for_each at the end counts, unless it failed") {
    for (const std::size_t kept : {1'000U, 10U}) {
        weir::virtual_time clock;
        const auto last = [](int k) -> weir::task<> {
            co_await weir::sleep_for(2ms);
            if (k % 10 == 3) throw std::runtime_error("no");
        };
        auto run = (weir::source(std::views::iota(0, 500)) |
                    weir::for_each(last, {.name = "last", .max_failures = weir::unlimited}))
                       .start(clock, {.recording = kept});
        run.wait();
        const weir::pipeline_stats stats = run.stats();
        std::size_t given = 0, failed = 0;
        const weir::recording recorded = weir::record_of(stats);
        for (const weir::recorded_task& each : recorded.stages[1].tasks) given += each.results;
        for (const weir::task_sample& each : stats.stages[1].samples->tasks) failed += each.failed ? 1U : 0U;
        CHECK(given == stats.stages[1].samples->tasks.size() - failed);
        CHECK(weir::explain(stats).stage == "last");
    }
}

TEST_CASE("failed invocations take their own time, and the run is explained without samples, too") {
    for (const weir::duration failing : {weir::duration(1ms), weir::duration(100ms)}) {
        for (const bool gives : {true, false}) {
            weir::virtual_time clock;
            const auto parse = [failing](int k) -> weir::task<int> {
                const weir::duration time = k % 2 == 0 ? weir::duration(10ms) : failing;
                co_await weir::sleep_for(time);
                if (k % 2 != 0) throw std::runtime_error("no");
                co_return k;
            };
            const auto last = [parse](int k) -> weir::task<> { static_cast<void>(co_await parse(k)); };
            const weir::stage_options options{.name = "parse", .max_failures = weir::unlimited};
            const auto numbers = weir::source(std::views::iota(0, 1'000));
            weir::pipeline_stats stats;
            if (gives) {
                auto run = (numbers | weir::pipe(parse, options) | weir::sink()).start(clock);
                stats = weir::sync_wait(clock, consume(run, 0ms));
            } else {
                auto run = (numbers | weir::for_each(last, options)).start(clock);
                run.wait();
                stats = run.stats();
            }
            const recording all = weir::record_of(stats);
            double given = 0, failed = 0;
            for (const weir::recorded_task& each : all.stages[1].tasks) {
                given += each.results;
                failed += each.failed ? 1 : 0;
            }
            CHECK(given == Approx(500));
            CHECK(failed == Approx(500));
            const weir::verdict v = weir::explain(stats);
            CHECK(v.stage == "parse");
            REQUIRE(v.change);
            CHECK(v.gain == Approx(1).epsilon(0.02));
        }
    }
}

TEST_CASE("a run that measures nothing has no verdict") {
    weir::virtual_time clock;
    const std::vector<weir::duration> times{1ms};
    const auto work = [&times](int k) { return sleep_and_give(k, &times); };
    auto run = (weir::source(std::views::iota(0, 300)) | weir::pipe(work) | weir::sink())
                   .start<weir::unmeasured>(clock);
    const weir::pipeline_stats stats = weir::sync_wait(clock, consume(run, 1ms));
    CHECK_FALSE(weir::brief_verdict(stats));
    CHECK(weir::explain(stats).cause == weir::limit_cause::unsure);
    CHECK(weir::explain(stats).sentence == "not sure why it is not faster: the run has no statistics");
}

TEST_CASE("a run with branches, without histograms or without statistics is refused with the reason") {
    using Catch::Matchers::ContainsSubstring;
    const auto same = [](int k) { return k; };
    CHECK_THROWS_WITH(weir::record_of(
                          stats_of(weir::source(std::views::iota(0, 9)) |
                                   weir::route([](int k) { return static_cast<std::size_t>(k % 2); },
                                               weir::branch("even", weir::pipe(same)),
                                               weir::branch("odd", weir::pipe(same))) |
                                   weir::sink())),
                      ContainsSubstring("can't be predicted") && ContainsSubstring("branches"));
    CHECK_THROWS_WITH(weir::record_of({}), ContainsSubstring("no statistics"));
    CHECK_THROWS_WITH(weir::record_of(stats_of(weir::source(std::views::iota(0, 9)) |
                                               weir::filter([](int) { return false; }) | weir::sink())),
                      ContainsSubstring("no item has reached the consumer"));
    const auto one_in_3000 = [](int k) { return k % 3'000 == 7; };
    for (const std::size_t kept : {0U, 100U}) {
        weir::virtual_time time;
        auto sparse = (weir::source(std::views::iota(0, 6'000)) | weir::filter(one_in_3000) | weir::sink())
                          .start(time, {.recording = kept});
        sparse.drain();
        CHECK_THROWS_WITH(weir::record_of(sparse.stats()), ContainsSubstring("this run can't be predicted") &&
                                                               ContainsSubstring("none goes on"));
    }
    weir::pipeline_stats damaged =
        stats_of(weir::source(std::views::iota(0, 9)) | weir::pipe(same) | weir::sink());
    std::swap(damaged.stages[0].kind, damaged.stages[1].kind);
    CHECK_THROWS_WITH(weir::record_of(damaged), ContainsSubstring("its first stage is no source"));
    std::swap(damaged.stages[0].kind, damaged.stages[1].kind);
    damaged.stages[1].kind = "sink";
    CHECK_THROWS_WITH(weir::record_of(damaged), ContainsSubstring("can't be predicted"));
    damaged.channels.pop_back();
    CHECK_THROWS_WITH(weir::record_of(damaged), ContainsSubstring("lack a queue"));
    weir::virtual_time clock;
    auto run =
        (weir::source(std::views::iota(0, 9)) | weir::pipe(same) | weir::sink()).start<weir::summed>(clock);
    const weir::pipeline_stats stats = weir::sync_wait(clock, consume(run, 0ms));
    CHECK_THROWS_WITH(weir::record_of(stats), ContainsSubstring("histograms"));
}

namespace {

std::vector<weir::duration> lognormal_times(std::size_t count, double mean_ms, std::uint64_t seed) {
    constexpr double sigma = 1;
    std::vector<weir::duration> times;
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> time(-sigma * sigma / 2, sigma);
    for (std::size_t i = 0; i < count; ++i) {
        times.emplace_back(static_cast<std::int64_t>(1e6 * mean_ms * time(random)));
    }
    return times;
}

template <class Run>
weir::task<weir::pipeline_stats> consume_with(Run& run, const std::vector<weir::duration>& times) {
    for (std::size_t i = 0;; ++i) {
        const auto item = co_await run.next();
        if (!item) break;
        co_await weir::sleep_for(times[i % times.size()]);
    }
    co_return run.stats();
}

template <class Pipeline>
weir::pipeline_stats recorded_stats(const Pipeline& pipeline, std::size_t recording,
                                    const std::vector<weir::duration>& consumer = {0ms}) {
    weir::virtual_time clock;
    auto run = pipeline.start(clock, {.max_failures = 1'000'000, .recording = recording});
    return weir::sync_wait(clock, consume_with(run, consumer));
}

double mean_ms(const weir::recorded_stage& stage) {
    double sum = 0;
    for (const weir::recorded_task& each : stage.tasks) {
        sum += static_cast<double>((each.run + each.await).count());
    }
    return sum * 1e-6 / static_cast<double>(stage.tasks.size());
}

}  // namespace

TEST_CASE("a recorded run with a consumer whose times vary is predicted; with the average alone it is not") {
    std::size_t unexplained = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        CAPTURE(seed);
        const std::vector<weir::duration> times = lognormal_times(4'000, 10, seed);
        const std::vector<weir::duration> consumer = lognormal_times(4'000, 9, seed + 100);
        const auto work = [&times](int k) { return sleep_and_give(k, &times); };
        weir::pipeline_stats stats =
            recorded_stats(weir::source(std::views::iota(0, 4'000)) |
                               weir::pipe(work, {.name = "work", .capacity = 1}) | weir::sink(1),
                           1'000, consumer);
        const recording all = weir::record_of(stats);
        CHECK(all.stages.back().tasks.size() >= 500);
        CHECK(weir::what_if(all).refused.empty());
        CHECK(weir::predict(all.settings, all, {.items = 20'000}).rate == Approx(all.rate).epsilon(0.04));
        stats.consumer.reset();
        unexplained += weir::what_if(weir::record_of(stats)).refused.empty() ? 0U : 1U;
    }
    CHECK(unexplained >= 6);
}

TEST_CASE("a sample's means are those of all invocations") {
    const std::vector<weir::duration> times = lognormal_times(20'000, 10, 3);
    const auto work = [&times](int k) -> weir::task<int> {
        co_await weir::sleep_for(times[static_cast<std::size_t>(k)]);
        if (k % 10 == 0) throw std::runtime_error("ten");
        co_return k;
    };
    const weir::pipeline_stats stats =
        recorded_stats(weir::source(std::views::iota(0, 20'000)) |
                           weir::pipe(work, {.name = "work", .concurrency = 4}) |
                           weir::filter([](int k) { return k % 3 == 0; }) | weir::flat_map([](int k) {
                               return std::vector<int>(static_cast<std::size_t>(k % 5));
                           }) |
                           weir::sink(),
                       200, lognormal_times(500, 1, 4));
    const recording all = weir::record_of(stats);
    const auto results = [&all](std::size_t stage) {
        double sum = 0;
        for (const weir::recorded_task& each : all.stages[stage].tasks) sum += each.results;
        return sum / static_cast<double>(all.stages[stage].tasks.size());
    };
    const weir::stage_stats& s = stats.stages[1];
    CHECK(all.stages[1].tasks.size() <= 200);
    CHECK(mean_ms(all.stages[1]) ==
          Approx(static_cast<double>(s.busy.count()) * 1e-6 / 20'000).epsilon(0.03));
    CHECK(results(1) == Approx(0.9).margin(0.01));
    CHECK(results(2) == Approx(1.0 / 3).margin(0.01));
    CHECK(results(3) == Approx(20.0 / 9).margin(0.02));
    const double consumed = static_cast<double>((stats.elapsed - stats.channels.back().get_blocked).count()) *
                            1e-6 / static_cast<double>(stats.num_items);
    CHECK(mean_ms(all.stages.back()) == Approx(consumed).epsilon(0.01));
}

TEST_CASE("times and results that depend on each other are recorded together") {
    // Every other item takes 10 ms and is dropped.
    const auto work = [](int k) -> weir::task<std::optional<int>> {
        if (k % 2 == 0) co_return k;
        co_await weir::sleep_for(10ms);
        co_return std::nullopt;
    };
    const recording all = weir::record_of(
        recorded_stats(weir::source(std::views::iota(0, 100)) | weir::pipe(work) | weir::sink(), 1'000));
    REQUIRE(all.stages[1].tasks.size() == 100);
    for (const weir::recorded_task& each : all.stages[1].tasks) {
        CHECK((each.results == 0) == (each.await == 10ms));
    }
}

TEST_CASE("a last batch that is not full does not change the recorded size of batches") {
    const auto p = weir::source(std::views::iota(0, 20)) | weir::aggregate(8) | weir::sink();
    CHECK(weir::record_of(recorded_stats(p, 100)).settings.stages[1].batch_size == 8);
    CHECK(weir::record_of(recorded_stats(p, 0)).settings.stages[1].batch_size == 7);
}

TEST_CASE("with samples, a run without histograms is recorded") {
    weir::virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 9)) | weir::pipe([](int k) { return k; }) | weir::sink())
                   .start<weir::summed>(clock, {.recording = 9});
    run.drain();
    CHECK(weir::record_of(run.stats()).stages[1].tasks.size() == 9);
}

TEST_CASE("batches of different sizes are recorded with their sizes, and predicted with them") {
    // An item that 3 divides is a batch; the two items before it are another one.
    const auto weigh = [](int k) { return k % 3 == 0 ? 4 : 1; };
    const weir::pipeline_stats stats =
        recorded_stats(weir::source(std::views::iota(0, 3'000)) |
                           weir::aggregate_by_weight(4, weigh, {.name = "group"}) |
                           weir::pipe([](const std::vector<int>& batch) { return batch.size(); }) |
                           weir::sink(),
                       5'000);
    REQUIRE(stats.num_items == 2'000);
    recording all = weir::record_of(stats);
    CHECK(all.stages[1].batch_sizes.size() == 2'000);
    CHECK(all.settings.stages[1].batch_size == 2);  // on average 1.5
    all.settings.num_items = 3'000;
    const weir::predict_options whole{.items = 3'000};
    CHECK(static_cast<double>(weir::predict(all.settings, all, whole).num_items) ==
          Approx(2'000).epsilon(0.03));
    all.settings.stage("group").batch_size = 6;
    CHECK(static_cast<double>(weir::predict(all.settings, all, whole).num_items) ==
          Approx(667).epsilon(0.03));
    all.settings.stage("group").batch_size = 1;  // half of each size; one item is 0.5, which is rounded up
    all.stages[1].batch_sizes = {1, 3};          // on average 2
    CHECK(static_cast<double>(weir::predict(all.settings, all, whole).num_items) ==
          Approx(2'000).epsilon(0.03));
}

namespace {

pipeline_settings two_stages() {
    return recordings::builder().stage({.name = "a"}, {}).aggregate("batch", 4).consumed().settings;
}

std::string refusal_of(const pipeline_settings& settings) {
    try {
        weir::detail::check_settings(settings);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

std::string refusal_after(const std::function<void(pipeline_settings&)>& change) {
    pipeline_settings settings = two_stages();
    change(settings);
    return refusal_of(settings);
}

}  // namespace

TEST_CASE("a stage is found by its name, and can be changed") {
    pipeline_settings settings = two_stages();
    settings.stage("a").concurrency = 3;
    CHECK(std::as_const(settings).stage("a").concurrency == 3);
    CHECK(settings.stage("batch").batch_size == 4);
}

TEST_CASE("a name that no stage has is refused with the names of all stages") {
    CHECK_THROWS_WITH(two_stages().stage("decode"),
                      "weir: no stage is called 'decode'; there are: src, a, batch, sink, consumer");
}

TEST_CASE("a name that two stages have is refused") {
    pipeline_settings settings = two_stages();
    settings.stages[2].name = "a";
    CHECK_THROWS_WITH(settings.stage("a"),
                      Catch::Matchers::ContainsSubstring("several stages are called 'a'"));
}

TEST_CASE("settings of a pipeline that can exist are accepted") { CHECK(refusal_of(two_stages()).empty()); }

TEST_CASE("settings that no pipeline can have are refused with the name of the stage") {
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(refusal_after([](auto& s) { s.stages.resize(2); }), ContainsSubstring("a source first"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[0].role = stage_role::function; }),
               ContainsSubstring("a source first"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].role = stage_role::source; }),
               ContainsSubstring("'a'"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].concurrency = 0; }),
               ContainsSubstring("'a'") && ContainsSubstring("is 0"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].concurrency = static_cast<std::size_t>(-1); }),
               ContainsSubstring("above 100000"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[2].concurrency = 2; }),
               ContainsSubstring("several slots"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[0].capacity = 0; }),
               ContainsSubstring("'src'") && ContainsSubstring("is 0"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[0].capacity = static_cast<std::size_t>(-1); }),
               ContainsSubstring("negative"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[2].batch_size = 0; }), ContainsSubstring("batch size"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].time_factor = -1; }),
               ContainsSubstring("time factor"));
    CHECK_THAT(refusal_after(
                   [](auto& s) { s.stages[1].time_factor = std::numeric_limits<double>::infinity(); }),
               ContainsSubstring("time factor"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].pool = 1; }), ContainsSubstring("no pool"));
}
