#include <weir/insight/predict.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

using namespace std::chrono_literals;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using recordings::awaiting;
using recordings::builder;
using weir::prediction;
using weir::recording;

namespace {

// Times that vary, taken at random.
weir::recorded_stage varied(unsigned seed, std::size_t size = 500) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> time(1);
    weir::recorded_stage sample{.num_tasks = size};
    for (std::size_t i = 0; i < size; ++i) {
        sample.tasks.push_back({0ms, weir::duration(static_cast<std::int64_t>(1e7 * time(random))), 1});
    }
    return sample;
}
recording two(unsigned seed = 1, std::size_t size = 500) {
    return builder()
        .stage({.name = "a"}, varied(seed, size))
        .stage({.name = "b"}, varied(seed + 1, size))
        .consumed();
}

}  // namespace

TEST_CASE("a prediction is repeatable, and depends on the seed") {
    const recording from = two();
    CHECK(weir::predict(from.settings, from).rate == weir::predict(from.settings, from).rate);
    CHECK(weir::predict(from.settings, from).rate != weir::predict(from.settings, from, {.seed = 2}).rate);
}

TEST_CASE("the rate is that after the skipped items") {
    recording from = builder(awaiting({100, 1, 1, 1, 1, 1, 1, 1, 1, 1})).consumed();
    CHECK(weir::predict(from.settings, from, {.items = 10, .skipped = 1}).rate == Approx(1000));
    CHECK(weir::predict(from.settings, from, {.items = 11, .skipped = 10}).rate == Approx(10));
}

TEST_CASE("a prediction stops at the given time, and accounts for it exactly") {
    recording from = builder().stage({.name = "a"}, awaiting({10})).consumed();
    const prediction p = weir::predict(from.settings, from, {.until = 25ms});
    CHECK(p.elapsed == 25ms);
    CHECK(p.num_items == 2);
    CHECK(p.stages[1].times.await == 25ms);
}

TEST_CASE("9 of 10 intervals hold the rate of a long run") {
    const recording truth = two(7, 20'000);
    const double rate = weir::predict(truth.settings, truth, {.items = 100'000, .skipped = 1'000}).rate;
    int held = 0;
    for (unsigned i = 0; i < 40; ++i) {
        recording part = truth;  // a short recording of the same run
        std::mt19937_64 random(i);
        for (weir::recorded_stage& each : part.stages) {
            if (each.tasks.empty()) continue;
            std::vector<weir::recorded_task> some;
            for (int k = 0; k < 300; ++k) some.push_back(each.tasks[random() % each.tasks.size()]);
            each.tasks = some;
        }
        const prediction p =
            weir::predict(part.settings, part, {.items = 1'000, .skipped = 100, .seed = i, .resamples = 20});
        CHECK(p.resampled.size() == 20);
        held += p.low <= rate && rate <= p.high ? 1 : 0;
    }
    CHECK(held >= 34);
}

TEST_CASE("a faster stage takes the given share of its time") {
    recording from = builder().stage({.name = "a"}, awaiting({10})).consumed();
    from.settings.stage("a").time_factor = 0.25;
    CHECK(weir::predict(from.settings, from).rate == Approx(400));
}

TEST_CASE("a recording of another pipeline is refused with the name of the stage") {
    const recording from = two();
    weir::pipeline_settings other = from.settings;
    other.stages[1].name = "c";
    CHECK_THROWS_WITH(weir::predict(other, from),
                      "weir: the recording is of another pipeline: it has no times for stage 'c'");
    other = from.settings;
    other.stages.erase(other.stages.begin() + 1);
    CHECK_THROWS_WITH(weir::predict(other, from),
                      ContainsSubstring("another pipeline") && ContainsSubstring("'b'"));
    recording broken = from;
    broken.stages.pop_back();
    CHECK_THROWS_AS(weir::predict(from.settings, broken), std::invalid_argument);
    broken = from;
    broken.stages[1].tasks[3].await = -1ms;
    CHECK_THROWS_WITH(weir::predict(from.settings, broken),
                      ContainsSubstring("negative time") && ContainsSubstring("'a'"));
}

TEST_CASE(
    "a stage that gives nothing on is refused, and one that gives hardly anything ends the simulation") {
    recording from = builder().stage({.name = "drops"}, awaiting({1})).consumed();
    from.stages[1].tasks.assign(100, {0ms, 0ms, 0});
    CHECK_THROWS_WITH(weir::predict(from.settings, from),
                      ContainsSubstring("no item of stage 'drops' goes on"));
    from.stages[1].tasks.assign(1'000'000, {0ms, 0ms, 0});
    from.stages[1].tasks.back().results = 1;
    CHECK(weir::predict(from.settings, from).num_items == 10);
}

TEST_CASE("options and settings that make no sense are refused") {
    const recording from = two();
    CHECK_THROWS_WITH(weir::predict(from.settings, from, {.items = 1}),
                      ContainsSubstring("at least 2 items"));
    CHECK_THROWS_WITH(weir::predict(from.settings, from, {.skipped = 0}),
                      ContainsSubstring("skips at least 1"));
    CHECK_THROWS_WITH(weir::predict(from.settings, from, {.items = 10, .skipped = 10}),
                      ContainsSubstring("fewer"));
    CHECK_THROWS_WITH(weir::predict(from.settings, from, {.until = -1ns}), ContainsSubstring("before"));
    CHECK_THROWS_WITH(weir::predict(from.settings, from, {.resamples = static_cast<std::size_t>(-1)}),
                      ContainsSubstring("resamples of a prediction were negative"));
    weir::pipeline_settings none = from.settings;
    none.stages[1].concurrency = 0;
    CHECK_THROWS_WITH(weir::predict(none, from), ContainsSubstring("'a'"));
}

TEST_CASE("a recording with figures that can't be is refused, and times of centuries are no rate") {
    recording from = two();
    from.stages[1].overhead = -1ns;
    CHECK_THROWS_WITH(weir::predict(from.settings, from), ContainsSubstring("negative time for stage 'a'"));
    from = two();
    from.rate = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(weir::calibrated(from), ContainsSubstring("rate of the recording"));
    from.rate = 1e-300;
    CHECK(weir::calibrated(from).stages[1].overhead >= 0ns);
    from = two();
    for (weir::recorded_task& each : from.stages[1].tasks) each.run = each.await = (weir::duration::max)();
    from.stages[1].overhead = (weir::duration::max)();
    const prediction p = weir::predict(from.settings, from);
    CHECK(p.rate == 0);
    CHECK(p.elapsed > 24h * 365);
    CHECK(p.stages[1].times.total() == p.elapsed);
}

TEST_CASE("a recording of a slower run is calibrated: each invocation takes the time that its times lack") {
    const auto recorded = [](std::int64_t extra) {
        return builder()
            .stage({.name = "a", .concurrency = 2}, awaiting({12 + extra}))
            .stage({.name = "b"}, awaiting({10 + extra}))
            .consumed();
    };
    recording slower = recorded(0);
    const recording truth = recorded(1);
    slower.rate = weir::predict(truth.settings, truth).rate;
    const recording from = weir::calibrated(slower);
    CHECK(from.stages[2].overhead > 980us);
    CHECK(from.stages[2].overhead < 1020us);
    CHECK(weir::predict(from.settings, from).rate == Approx(slower.rate).epsilon(0.002));

    weir::pipeline_settings changed = from.settings;
    changed.stage("b").time_factor = 0.1;  // the overhead remains
    CHECK(weir::predict(changed, from).rate == Approx(2'000.0 / 13).epsilon(0.01));
    changed.stage("a").concurrency = 12;
    CHECK(weir::predict(changed, from).rate == Approx(500).epsilon(0.02));
    changed.stage("b").time_factor = 0;  // but not where the stage takes no time
    CHECK(weir::predict(changed, from).rate == Approx(12'000.0 / 13).epsilon(0.01));
}

TEST_CASE("the overhead of a task that computes takes its thread") {
    recording from = builder()
                         .stage({.name = "a"}, recordings::running({5}))
                         .stage({.name = "b"}, recordings::running({5}))
                         .consumed();
    from.settings.pools = {1};
    from.rate = 95;
    CHECK(weir::predict(from.settings, weir::calibrated(from)).rate == Approx(95).epsilon(0.01));
}

TEST_CASE("a run is not calibrated if no overhead explains its rate, or if none is needed") {
    recording from = two();
    const prediction today = weir::predict(from.settings, from, {.resamples = 20});
    from.rate = 0;  // not measured
    CHECK(weir::calibrated(from) == from);
    from.rate = 1.01 * today.rate;
    CHECK(weir::calibrated(from) == from);
    from.rate = today.low + 0.5 * (today.rate - today.low);  // as likely as not without an overhead
    CHECK(weir::calibrated(from, {.resamples = 20}) == from);
    // Fifty invocations for each item of the consumer.
    recording batches = builder(awaiting({1})).aggregate("batches", 50).consumed();
    batches.rate = 18;
    const recording calibrated = weir::calibrated(batches);
    CHECK(weir::predict(batches.settings, calibrated).rate == Approx(18).epsilon(0.01));
    // Five items for each invocation: the overhead would be five times the time that the run lacks for an item.
    recording parts = builder().stage({.name = "a"}, awaiting({10})).disaggregate("parts").consumed();
    parts.stages[1].tasks[0].results = 5;
    parts.rate = 0.97 * weir::predict(parts.settings, parts).rate;
    CHECK(weir::calibrated(parts) == parts);
}
