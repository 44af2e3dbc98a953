#include <weir/insight/predict.hpp>

#include <weir/insight/simulator.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/recordings.hpp"

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;
using recordings::awaiting;
using recordings::builder;
using weir::change_kind;
using weir::prediction;
using weir::recording;
using weir::setting_change;
using weir::what_if_result;

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

TEST_CASE("each resample of a sample in which one invocation has a result has such an invocation, too") {
    recording from = builder().stage({.name = "drops"}, awaiting({1})).consumed();
    from.stages[1].in_sequence = false;
    from.stages[1].tasks.assign(400, {0ms, 1ms, 0});
    from.stages[1].tasks.back().results = 1;
    const weir::predict_options few{.items = 10, .skipped = 1, .resamples = 12};
    const prediction p = weir::predict(from.settings, from, few);
    for (const double each : p.resampled) CHECK(each > 0);
    CHECK(p.low > 0);
    for (std::uint64_t seed = 12; seed < 17; ++seed) {  // 3 of these draw a resample without a result first
        weir::predict_options how = few;
        how.seed = seed;
        CHECK(weir::detail::simulator(from.settings, from.stages, how, true).run().stages[1].num_tasks <
              11 * 400);
    }
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

namespace {

recording slow_second() {
    return builder(awaiting({2}))
        .stage({.name = "fast"}, awaiting({3}))
        .stage({.name = "slow"}, awaiting({10}))
        .consumed(awaiting({1}));
}

const weir::predicted_change& of(const what_if_result& result, change_kind kind, const std::string& stage) {
    const auto found = std::ranges::find_if(result.changes, [&](const auto& each) {
        return each.change.kind == kind && each.change.stage == stage;
    });
    REQUIRE(found != result.changes.end());
    return *found;
}

}  // namespace

TEST_CASE("the changes are sorted by their gain, and the gain is that of the predicted rates") {
    const what_if_result result = weir::what_if(slow_second());
    CHECK(result.refused.empty());
    CHECK(result.today.rate == Approx(100));
    CHECK(std::ranges::is_sorted(result.changes, std::greater(), &weir::predicted_change::gain));
    CHECK(result.changes.front().change.stage == "slow");
    CHECK(of(result, change_kind::faster, "slow").gain == Approx(1));
    CHECK(of(result, change_kind::concurrency, "slow").rate == Approx(200));
    CHECK(of(result, change_kind::faster, "fast").gain == Approx(0).margin(0.01));
    CHECK(of(result, change_kind::source, "").gain == Approx(0).margin(0.01));
    CHECK(of(result, change_kind::capacity, "").gain == Approx(0).margin(0.01));
}

TEST_CASE("only the given changes are predicted") {
    const what_if_result result =
        weir::what_if(slow_second(), {.changes = {{change_kind::concurrency, "slow", 3}}});
    REQUIRE(result.changes.size() == 1);
    CHECK(result.changes[0].rate == Approx(300));
}

TEST_CASE("a run that was slower or faster than its times explain is refused with the difference") {
    recording run = slow_second();
    run.rate = 90;
    CHECK_THAT(weir::what_if(run).refused,
               ContainsSubstring("I can't explain this run") && ContainsSubstring("11 % faster"));
    CHECK(weir::what_if(run).changes.empty());
    run.rate = 120;
    CHECK_THAT(weir::what_if(run).refused, ContainsSubstring("17 % slower"));
    run.rate = 98;
    CHECK(weir::what_if(run).refused.empty());
    run.rate = 90;
    CHECK(weir::what_if(run, {.tolerance = 0.2}).refused.empty());
    for (const double wrong : {-0.1, std::nan("")}) {
        CHECK_THROWS_WITH(weir::what_if(run, {.tolerance = wrong}), ContainsSubstring("must be 0 or more"));
    }
    CHECK_THROWS_WITH(weir::what_if(run, {.fewest_tasks = static_cast<std::uint64_t>(-1)}),
                      ContainsSubstring("fewest_tasks"));
}

TEST_CASE("a run whose simulation ends too early for a rate is refused, and not because it was too fast") {
    recording from = slow_second();
    from.rate = 50;
    from.settings.num_items = 100;
    const what_if_result result = weir::what_if(from);
    CHECK(result.refused ==
          "its simulation ended when the consumer had got 100 items, of which the first 200 don't count");
    CHECK(result.changes.empty());
}

TEST_CASE("what the run lacks for its prediction is added to each invocation, unless told otherwise") {
    recording run = slow_second();
    run.rate = 1000 / 10.4;
    const setting_change twice{change_kind::faster, "slow", 0.5};
    const what_if_result calibrated = weir::what_if(run, {.changes = {twice}});
    CHECK(calibrated.today.rate == Approx(100));
    CHECK(calibrated.overhead > 380us);
    CHECK(calibrated.overhead < 420us);
    REQUIRE(calibrated.changes.size() == 1);
    CHECK(calibrated.changes[0].rate == Approx(1000 / 5.4).epsilon(0.01));
    CHECK(calibrated.changes[0].gain == Approx(10.4 / 5.4 - 1).epsilon(0.01));
    const what_if_result plain = weir::what_if(run, {.changes = {twice}, .calibrate = false});
    CHECK(plain.overhead == 0ms);
    CHECK(plain.changes.at(0).rate == Approx(200));
    CHECK(plain.changes.at(0).gain == Approx(1));
}

TEST_CASE("a run is explained by the mean of several simulations") {
    recording run = builder().stage({.name = "a"}, awaiting({1})).consumed();
    run.stages[1] = {.num_tasks = 60};
    for (int i = 0; i < 30; ++i) run.stages[1].tasks.push_back({0ms, (i < 3 ? 50ms : 1ms) * 1, 1});
    const weir::prediction p = weir::predict(run.settings, run, {.resamples = 10});
    double sum = p.rate;
    for (const double each : p.resampled) sum += each;
    run.rate = sum / 11;
    CHECK(std::max(run.rate / p.rate, p.rate / run.rate) > 1.01);  // one simulation alone is refused
    CHECK(weir::what_if(run, {.tolerance = 0.005}).refused.empty());
}

TEST_CASE("a stage with too few invocations is refused with its name") {
    recording run = slow_second();
    run.stages[2].in_sequence = false;
    run.stages[2].num_tasks = 19;
    CHECK_THAT(weir::what_if(run).refused, ContainsSubstring("'slow' has only 19"));
    run.stages[2].num_tasks = 20;
    CHECK(weir::what_if(run).refused.empty());
}

TEST_CASE("the gain of another batch size is that of the elements") {
    const recording run = builder().aggregate("batch", 4).stage({.name = "each"}, awaiting({10})).consumed();
    const what_if_result result = weir::what_if(run, {.changes = {{change_kind::batch_size, "batch", 8}}});
    CHECK(result.changes[0].rate == Approx(100));
    CHECK(result.changes[0].gain == Approx(1));
    CHECK(weir::detail::elements_per_item(run.settings) == Approx(4));
    const recording apart = builder().aggregate("batch", 4).disaggregate("each").consumed();
    CHECK(weir::detail::elements_per_item(apart.settings) == Approx(1));
}

TEST_CASE("the usual changes are those that the pipeline has") {
    recording run =
        builder()
            .stage({.name = "a", .concurrency = 2, .output_order = weir::output_order::input}, awaiting({1}))
            .aggregate("b", 1)
            .consumed();
    const auto has = [&run](change_kind kind, double value) {
        return std::ranges::any_of(weir::usual_changes(run), [&](const setting_change& each) {
            return each.kind == kind && each.value == Approx(value);
        });
    };
    CHECK(has(change_kind::completion_order, 0));
    CHECK(has(change_kind::concurrency, 4));
    CHECK(has(change_kind::batch_size, 2));
    CHECK_FALSE(has(change_kind::batch_size, 0));
    CHECK_FALSE(has(change_kind::consumer, 0));
    CHECK_FALSE(has(change_kind::source, 0));
    CHECK_FALSE(has(change_kind::threads, 4));
    run.settings.pools[0] = 2;
    CHECK(has(change_kind::threads, 4));
    run.settings.stages[1].is_resizable = false;
    CHECK_FALSE(has(change_kind::concurrency, 4));
}

TEST_CASE("the usual changes of great numbers are not refused") {
    for (const std::size_t room : {300'000'000U, 1'000'000'000U, 2'000'000'000U}) {
        const recording run =
            builder()
                .stage({.name = "a", .concurrency = 60'000, .capacity = room}, awaiting({1}))
                .aggregate("batch", 2'000'000'000)
                .consumed();
        const std::vector<setting_change> all = weir::usual_changes(run);
        for (const setting_change& each : all) {
            CHECK_NOTHROW(weir::detail::check_settings(weir::with_change(run.settings, each, run)));
            CHECK(each.kind != change_kind::concurrency);
            if (each.kind == change_kind::batch_size) CHECK(each.value == 1e9);
        }
        CHECK(std::ranges::count(all, setting_change{change_kind::capacity, "a", 1e9}) ==
              (room < 1'000'000'000 ? 1 : 0));
    }
}

TEST_CASE("a change that does not fit is refused in a sentence") {
    const recording run = builder().stage({.name = "a"}, awaiting({1})).aggregate("b", 4).consumed();
    const auto refuse = [&run](const setting_change& change) {
        static_cast<void>(weir::with_change(run.settings, change, run));
    };
    CHECK_THROWS_WITH(refuse({change_kind::concurrency, "c", 2}),
                      ContainsSubstring("no stage is called 'c'"));
    CHECK_THROWS_WITH(refuse({change_kind::concurrency, "a", 0}),
                      ContainsSubstring("slots") && ContainsSubstring("'a'"));
    CHECK_THROWS_WITH(refuse({change_kind::concurrency, "a", -1}), ContainsSubstring("from 1 to 10^9"));
    CHECK_THROWS_WITH(refuse({change_kind::concurrency, "a", 1.5}), ContainsSubstring("whole number"));
    CHECK_THROWS_WITH(refuse({change_kind::concurrency, "b", 2}), ContainsSubstring("'b' has no slots"));
    CHECK_THROWS_WITH(refuse({change_kind::batch_size, "a", 2}), ContainsSubstring("'a' has no batch size"));
    CHECK_THROWS_WITH(refuse({change_kind::completion_order, "b"}), ContainsSubstring("'b' has no order"));
    CHECK_THROWS_WITH(refuse({change_kind::capacity, "a", 0}), ContainsSubstring("places"));
    CHECK_THROWS_WITH(refuse({change_kind::faster, "a", 1.5}), ContainsSubstring("from 0 to 1"));
    CHECK_THROWS_WITH(refuse({change_kind::faster, "a", std::numeric_limits<double>::quiet_NaN()}),
                      ContainsSubstring("from 0 to 1"));
    CHECK_THROWS_WITH(refuse({change_kind::threads, "", 2, 1}), ContainsSubstring("no pool"));
    CHECK_THROWS_WITH(refuse({change_kind::consumer, "", -1}), ContainsSubstring("must not be negative"));
    CHECK_THROWS_WITH(refuse({change_kind::consumer, "", 1}),
                      ContainsSubstring("takes no time in this recording"));
    for (const auto kind : {change_kind::consumer, change_kind::source}) {
        CHECK_THROWS_WITH(weir::with_change({}, {kind}, {}), ContainsSubstring("no stage to change"));
    }
}

TEST_CASE("the consumer gets another average time") {
    const recording run = builder().stage({.name = "a"}, awaiting({1})).consumed(awaiting({10, 30}));
    const weir::pipeline_settings changed =
        weir::with_change(run.settings, {change_kind::consumer, "", 0.005}, run);
    CHECK(changed.stages.back().time_factor == Approx(0.25));
}

TEST_CASE("each change is described in words") {
    const recording run = slow_second();
    const auto text = [&run](const setting_change& change) { return weir::describe(change, run.settings); };
    CHECK(text({change_kind::faster, "slow", 0.5}) == "slow: 50 % less time");
    CHECK(text({change_kind::concurrency, "slow", 2}) == "slow: 2 slots instead of 1");
    CHECK(text({change_kind::capacity, "slow", 16}) == "slow: room for 16 items behind it instead of 2");
    CHECK(text({change_kind::capacity, "slow", 1}) == "slow: room for 1 item behind it instead of 2");
    CHECK(text({change_kind::concurrency, "slow", 1}) == "slow: 1 slot instead of 1");
    CHECK(text({change_kind::capacity, "", 16}) == "every queue: room for 16 items");
    CHECK(text({change_kind::capacity, "", 1}) == "every queue: room for 1 item");
    CHECK(text({change_kind::batch_size, "slow", 8}) == "slow: batches of 8 instead of 1");
    CHECK(text({change_kind::completion_order, "slow"}) ==
          "slow: results as they are finished, instead of in order");
    CHECK(text({change_kind::threads, "", 4}) == "4 threads instead of 0");
    recording shared = run;
    shared.settings.pools = {2, 3};
    shared.settings.stage("slow").pool = 1;
    CHECK(weir::describe({change_kind::threads, "", 6, 1}, shared.settings) ==
          "6 threads instead of 3 for slow");
    CHECK(text({change_kind::consumer, "", 0.005}) == "a consumer that takes 5.0 ms");
    CHECK_THROWS_WITH(text({change_kind::threads, "", 4, 7}), ContainsSubstring("no pool number 7"));
    CHECK(text({change_kind::concurrency, "slow", -1}) == "slow: -1 slots instead of 1");
    CHECK(text({change_kind::consumer, "", 0}) == "a consumer that takes no time");
    CHECK(text({change_kind::source}) == "a source that takes no time");
}
