#include <weir/insight/diff.hpp>

#include <weir/executor/virtual_time.hpp>
#include <weir/insight/recording.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/recordings.hpp"

using Catch::Approx;
using items::contains;
using items::message_of;
using namespace std::chrono_literals;
using recordings::awaiting;
using recordings::builder;
using texts = std::vector<std::string>;
using weir::diff;
using weir::pipeline_stats;
using weir::recording;
using weir::run_difference;
using weir::stage_difference;
using weir::state_difference;
using weir::detail::changed_settings;
using weir::detail::changed_states;
using weir::detail::compared_run;
using weir::detail::compared_stage;
using weir::detail::pairs_of;

namespace {

constexpr weir::diff_options without_verdicts{.explain = false};

struct pipe_spec {
    weir::duration time = 10ms;
    std::size_t concurrency = 1;
    std::size_t capacity = 2;
    bool in_order = false;
    int fails_every = 0;
    std::string name = "decode";
};

template <class Policy = weir::measured>
pipeline_stats run_of(const pipe_spec& s, int num_items = 200) {
    weir::virtual_time time;
    auto run = (weir::source(std::views::iota(0, num_items)) |
                weir::pipe(
                    [s](int n) -> weir::task<int> {
                        co_await weir::sleep_for(s.time);
                        if (s.fails_every != 0 && n % s.fails_every == 0) throw std::runtime_error("no");
                        co_return n;
                    },
                    {.name = s.name,
                     .concurrency = s.concurrency,
                     .output_order = s.in_order ? weir::output_order::input : weir::output_order::completion,
                     .capacity = s.capacity,
                     .max_failures = 1'000'000}) |
                weir::aggregate(4, {.name = "batch"}) | weir::sink(3))
                   .template start<Policy>(time);
    while (run.get()) continue;
    return run.stats();
}

const weir::stage_difference& stage_in(const run_difference& d, const std::string& name) {
    for (const weir::stage_difference& each : d.stages) {
        if (each.stage == name) return each;
    }
    throw std::runtime_error("no stage " + name);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("equal runs have no difference, and the text says which changes would have been seen") {
    const run_difference d = diff(run_of({}), run_of({}));
    CHECK_FALSE(d.has_difference());
    CHECK(d.sentence() == "no difference was seen");
    CHECK(d.states.empty());
    CHECK_FALSE(stage_in(d, "decode").has_changed);
    CHECK(stage_in(d, "decode").num_before == 200);
    CHECK(stage_in(d, "decode").detectable.value() >= 0.03);
    CHECK(d.verdict_before == d.verdict_after);
    const std::string text = d.text();
    CHECK(text.starts_with("no difference was seen\nrate: 25.0 /s instead of 25.0 /s (+0.0 %)\n"));
    CHECK(has(text, "verdict before: stage 'decode' is the bottleneck"));
    CHECK(has(text,
              "in 95 of 100 cases, runs as long as these show a change of a time by at least:\n  'decode': "
              "3.0 % (200 and 200 invocations)\n"));
}

TEST_CASE("a stage that takes 10 % longer is named, with its times, its states and the rates") {
    const run_difference d = diff(run_of({.time = 10ms}), run_of({.time = 11ms}));
    const weir::stage_difference& decode = stage_in(d, "decode");
    CHECK(decode.has_changed);
    CHECK(decode.before == 10ms);
    CHECK(decode.after == 11ms);
    CHECK(decode.change == Approx(0.1));
    CHECK(decode.interval.holds(0.1));
    CHECK(decode.interval.low > 0.09);
    CHECK(decode.interval.high < 0.11);
    CHECK(d.sentence().starts_with("'decode' takes 10.0 % longer (+"));
    CHECK(has(d.sentence(), "): 11.0 ms instead of 10.0 ms"));
    CHECK(d.rate_before / d.rate_after == Approx(1.1));
    std::ostringstream out;
    out << d;
    CHECK(out.str() == d.text());
}

TEST_CASE("a stage that takes less time is named, too") {
    const run_difference d = diff(run_of({.time = 10ms}), run_of({.time = 5ms}), without_verdicts);
    CHECK(stage_in(d, "decode").change == Approx(-0.5));
    CHECK(d.sentence().starts_with("'decode' takes 50.0 % less time ("));
    CHECK(d.verdict_before.empty());
    CHECK_FALSE(has(d.text(), "verdict"));
    const run_difference much = diff(run_of({.time = 100ms}), run_of({.time = 100us}), without_verdicts);
    CHECK(stage_in(much, "decode").change == Approx(-0.999));
    CHECK(stage_in(much, "decode").interval.holds(-0.999));
    CHECK(
        much.sentence().starts_with("'decode' takes 99.9 % less time (-99.9 % to -99.9 %): 100 us instead"));
}

TEST_CASE("the share of the time of a stage that becomes a thousand times faster is right") {
    const run_difference d = diff(run_of({.time = 10ms}), run_of({.time = 10us}), without_verdicts);
    CHECK(stage_in(d, "decode").change == Approx(-0.999));
    CHECK(stage_in(d, "decode").interval.low >= -1);
    CHECK(d.sentence().starts_with("'decode' takes 99.9 % less time ("));
}

TEST_CASE("a change below the least change is not named, however certain it is") {
    const pipeline_stats a = run_of({.time = 10ms}), b = run_of({.time = 10'150us});
    CHECK_FALSE(diff(a, b, without_verdicts).has_difference());
    CHECK(diff(a, b, {.least_change = 0.01, .explain = false}).has_difference());
}

TEST_CASE("a change of a time that is next to nothing in its run is not named") {
    pipeline_stats a = run_of({.time = 10ms});
    a.stages[0].task_times = weir::histogram();
    a.stages[0].task_times.record(60ns, 200);
    pipeline_stats b = a;
    b.stages[0].task_times = weir::histogram();
    b.stages[0].task_times.record(80ns, 200);
    CHECK(stage_in(diff(a, b, without_verdicts), "src").change > 0.3);
    CHECK_FALSE(diff(a, b, without_verdicts).has_difference());
    for (pipeline_stats* const each : {&a, &b}) {  // unless its slots do nothing else
        each->stages[0].per_slot[0] = {};
        each->stages[0].per_slot[0].await = 1s;
    }
    CHECK(stage_in(diff(a, b, without_verdicts), "src").has_changed);
}

TEST_CASE("settings that changed are listed, and first in the sentence if no time changed") {
    const run_difference d =
        diff(run_of({.concurrency = 2}), run_of({.concurrency = 4, .capacity = 8, .in_order = true}));
    CHECK(d.settings == std::vector<std::string>{"concurrency of decode: 2 -> 4",
                                                 "capacity behind decode: 2 -> 8",
                                                 "order of decode: completion -> input"});
    CHECK_FALSE(stage_in(d, "decode").has_changed);
    CHECK(d.sentence().starts_with("concurrency of decode: 2 -> 4; "));
}

TEST_CASE("states that changed are part of a difference, and only of one") {
    const auto make = [](std::int64_t ms) {
        return builder(awaiting({ms})).stage({.name = "s"}, awaiting({5})).consumed();
    };
    const run_difference d = diff(make(5), make(10), without_verdicts);
    CHECK(stage_in(d, "src").has_changed);
    CHECK_FALSE(stage_in(d, "s").has_changed);
    CHECK_FALSE(d.states.empty());
    CHECK(has(d.text(), "  's' wait_get: 50.0 % of its slots' time instead of "));
    CHECK(diff(make(5), make(5), without_verdicts).states.empty());
}

TEST_CASE("a stage that fails more often is named, unless the failures are too few to tell") {
    const run_difference d =
        diff(run_of({.fails_every = 100}, 2'000), run_of({.fails_every = 10}, 2'000), without_verdicts);
    CHECK(stage_in(d, "decode").failures_changed);
    CHECK(has(d.sentence(), "'decode' fails more often: 10.0 % of the invocations instead of 1.0 %"));
    CHECK_FALSE(
        stage_in(diff(run_of({.fails_every = 100}, 200), run_of({.fails_every = 50}, 200), without_verdicts),
                 "decode")
            .failures_changed);
}

TEST_CASE("too few invocations are not compared, and the text says so") {
    const run_difference d = diff(run_of({.time = 10ms}, 8), run_of({.time = 20ms}, 8), without_verdicts);
    CHECK_FALSE(stage_in(d, "decode").has_changed);
    CHECK_FALSE(stage_in(d, "decode").detectable);
    CHECK(has(d.text(), "too few to compare: 'decode', 8 and 8 invocations\n"));
}

TEST_CASE("recordings are compared as runs are; times in sequence are exact") {
    const auto make = [](std::int64_t ms) {
        return builder().stage({.name = "s"}, awaiting({10, ms})).consumed();
    };
    CHECK_FALSE(diff(make(10), make(10), without_verdicts).has_difference());
    const run_difference d = diff(make(10), make(12), without_verdicts);
    CHECK(stage_in(d, "s").change == Approx(0.1));
    CHECK(stage_in(d, "s").is_exact);
    CHECK(has(d.text(), "  's': 3.0 % (known exactly)\n"));
    CHECK(stage_in(d, "s").has_changed);
    const recording drawn = weir::record_of(run_of({.time = 10ms}));
    CHECK(stage_in(diff(drawn, weir::record_of(run_of({.time = 11ms})), without_verdicts), "decode")
              .has_changed);
    CHECK_FALSE(diff(drawn, drawn, without_verdicts).has_difference());
}

TEST_CASE("in recordings, as in statistics, the times of failed invocations do not count") {
    const auto run_of_fails = [](int every) {
        weir::virtual_time time;
        auto run = (weir::source(std::views::iota(0, 200)) |
                    weir::pipe(
                        [every](int n) -> weir::task<int> {
                            co_await weir::sleep_for(1ms);
                            if (n % every == 0) throw std::runtime_error("no");
                            co_await weir::sleep_for(9ms);
                            co_return n;
                        },
                        {.name = "decode", .max_failures = 1'000}) |
                    weir::sink(3))
                       .start(time, {.recording = 1'000});
        while (run.get()) continue;
        return run.stats();
    };
    const pipeline_stats a = run_of_fails(100), b = run_of_fails(2);
    for (const run_difference& d :
         {diff(a, b, without_verdicts), diff(weir::record_of(a), weir::record_of(b), without_verdicts)}) {
        CHECK_FALSE(stage_in(d, "decode").has_changed);
        CHECK(stage_in(d, "decode").after == 10ms);
        CHECK(stage_in(d, "decode").num_after == 100);
        CHECK(stage_in(d, "decode").failed_after == 0.5);
    }
}

TEST_CASE("in recordings, too, a change of a time that is next to nothing in its run is not named") {
    const auto make = [](weir::duration time) {
        weir::recorded_stage source = awaiting({1});
        source.tasks[0].await = time;
        return builder(source).stage({.name = "s"}, awaiting({10})).consumed();
    };
    CHECK(stage_in(diff(make(60ns), make(80ns), without_verdicts), "src").change > 0.3);
    CHECK_FALSE(diff(make(60ns), make(80ns), without_verdicts).has_difference());
}

TEST_CASE("runs of pipelines that differ: what both have is compared, and the rest is named") {
    const run_difference d = diff(run_of({}), run_of({.name = "parse"}), without_verdicts);
    CHECK(d.settings == std::vector<std::string>{"only the first run has stage decode",
                                                 "only the second run has stage parse"});
    const recording one = builder().stage({.name = "s"}, awaiting({10})).consumed();
    recording other = one;
    for (weir::stage_settings& each : other.settings.stages) each.name += "2";
    CHECK(diff(one, other, without_verdicts).sentence() ==
          "the runs can't be compared: these are runs of different pipelines: no stage of one has the name "
          "of one of "
          "the other");
}

TEST_CASE("runs without statistics, and recordings that are broken, are refused with a sentence") {
    CHECK(diff(pipeline_stats(), run_of({})).sentence() ==
          "the runs can't be compared: the first run: it has no statistics");
    CHECK(diff(run_of({}), run_of<weir::unmeasured>({})).refused.starts_with("the second run: "));
    recording broken = builder().stage({.name = "s"}, awaiting({10})).consumed();
    const recording whole = broken;
    broken.stages[1].tasks[0].await = -1ms;
    CHECK(diff(whole, broken).refused == "the second run: the recording has a negative time for stage 's'");
    broken.stages.pop_back();
    CHECK(diff(broken, whole).refused ==
          "the first run: the recording has settings and samples of different stages");
    CHECK(diff(broken, whole).text() == diff(broken, whole).sentence() + "\n");
}

TEST_CASE("options that make no sense are refused") {
    CHECK(message_of([] { static_cast<void>(diff(recording(), recording(), {.level = 0})); }) ==
          "weir: diff_options::level is a probability between 0 and 1, such as 0.002");
    CHECK(message_of([] { static_cast<void>(diff(recording(), recording(), {.least_change = -1})); }) ==
          "weir: diff_options::least_change must not be negative; 0.03 is 3 %");
}

namespace {

stage_difference slower() {
    return {.stage = "decode",
            .has_changed = true,
            .num_before = 200,
            .num_after = 1'000,
            .before = 10ms,
            .after = 12ms,
            .change = 0.2,
            .interval = {0.15, 0.25},
            .detectable = 0.03};
}

}  // namespace

TEST_CASE("an empty difference is none, and its text is one line") {
    const run_difference none;
    CHECK_FALSE(none.has_difference());
    CHECK(none.sentence() == "no difference was seen");
    CHECK(none.text() == "no difference was seen\n");
}

TEST_CASE(
    "a time, a share of failures, the rate or a setting makes a difference; a state or a verdict does not") {
    run_difference d;
    d.stages = {{.stage = "decode", .num_before = 1, .change = 0.5}, {.stage = "batch"}};
    d.states = {{"decode", "wait_get", 0.1, 0.9}};
    d.rate_before = 10;
    d.rate_after = 20;
    d.verdict_after = "decode is slow";
    CHECK_FALSE(d.has_difference());
    run_difference time = d, failures = d, rate = d, setting = d;
    time.stages[0].has_changed = true;
    failures.stages[1].failures_changed = true;
    rate.rate_changed = true;
    setting.settings = {"concurrency of decode: 2 -> 4"};
    CHECK(time.has_difference());
    CHECK(failures.has_difference());
    CHECK(rate.has_difference());
    CHECK(setting.has_difference());
}

TEST_CASE("the sentence has times first, then settings, then the rate, without a full stop") {
    run_difference d;
    d.stages = {slower(), {.stage = "unchanged"}};
    d.settings = {"concurrency of decode: 2 -> 4", "threads for decode: 1 -> no limit"};
    d.rate_changed = true;
    d.rate_before = 20;
    d.rate_after = 25;
    CHECK(d.sentence() ==
          "'decode' takes 20.0 % longer (+15.0 % to +25.0 %): 12.0 ms instead of 10.0 ms; concurrency of "
          "decode: 2 -> 4; threads for decode: 1 -> no limit; the rate is 25.0 /s instead of 20.0 /s (+25.0 "
          "%)");
}

TEST_CASE("a time that became shorter has no sign but in its interval") {
    run_difference d;
    d.stages = {slower()};
    d.stages[0].change = -0.5;
    d.stages[0].interval = {-0.6, 0.1};
    d.stages[0].is_typical = true;
    d.stages[0].after = 5ms;
    CHECK(d.sentence() ==
          "'decode' takes 50.0 % less time (-60.0 % to +10.0 %) by the geometric mean: 5.0 ms instead of "
          "10.0 ms");
}

TEST_CASE("a change that is rounded to 0.0 % has no minus sign") {
    run_difference d;
    d.rate_before = 1'000;
    d.rate_after = 999.9;
    CHECK(contains(d.text(), " (+0.0 %)\n"));
}

TEST_CASE("a stage whose failures changed is named, after its time if that changed, too") {
    run_difference d;
    d.stages = {slower()};
    d.stages[0].failures_changed = true;
    d.stages[0].failed_before = 0;
    d.stages[0].failed_after = 0.1;
    CHECK(d.sentence().ends_with(
        "12.0 ms instead of 10.0 ms; 'decode' fails more often: 10.0 % of the invocations instead of 0 %"));
    d.stages[0].has_changed = false;
    std::swap(d.stages[0].failed_before, d.stages[0].failed_after);
    CHECK(d.sentence() == "'decode' fails less often: 0 % of the invocations instead of 10.0 %");
}

TEST_CASE("runs that can't be compared have the reason as their only text") {
    run_difference d;
    d.refused = "the first run: it has no statistics";
    d.settings = {"capacity behind decode: 2 -> 3"};
    d.rate_before = d.rate_after = 5;
    CHECK(d.sentence() == "the runs can't be compared: the first run: it has no statistics");
    CHECK(d.text() == d.sentence() + "\n");
}

TEST_CASE("the text has the sentence, the rates, the states, the verdicts and what would have been seen") {
    run_difference d;
    d.stages = {slower(), {.stage = "batch", .num_before = 3, .num_after = 4}};
    d.stages.push_back({.stage = "exact", .is_exact = true, .detectable = 0.5});
    d.stages.push_back({.stage = "other", .is_exact = true});
    d.stages[0].has_changed = false;
    d.states = {{"decode", "wait_get", 0.25, 0.5, weir::confidence_interval{0.2, 0.3}},
                {"batch", "run", 0.5, 0}};
    d.rate_before = 100;
    d.rate_after = 75;
    d.verdict_before = "first";
    d.verdict_after = "second";
    const std::string expected =
        "no difference was seen\n"
        "rate: 75.0 /s instead of 100 /s (-25.0 %)\n"
        "states:\n"
        "  'decode' wait_get: 50.0 % of its slots' time instead of 25.0 % (+20.0 % to +30.0 % of the time)\n"
        "  'batch' run: 0 % of its slots' time instead of 50.0 %\n"
        "verdict before: first\n"
        "verdict after: second\n"
        "in 95 of 100 cases, runs as long as these show a change of a time by at least:\n"
        "  'decode': 3.0 % (200 and 1000 invocations)\n"
        "  'exact': 50.0 % (known exactly)\n"
        "too few to compare: 'batch', 3 and 4 invocations\n"
        "too few to compare: 'other', known exactly\n";
    CHECK(d.text() == expected);
    std::ostringstream out;
    out << d << "|";
    CHECK(out.str() == expected + "|");
}

TEST_CASE("the text has no control characters of the stages' names") {
    run_difference d;
    d.stages = {slower(), {.stage = "other\x1b[2J"}};
    d.stages[0].stage = "slow\x1b[2J";
    d.stages[0].failed_after = 0.1;
    d.stages[0].failures_changed = true;
    d.states = {{"slow\x1b[2J", "run", 0.5, 0}};
    CHECK_FALSE(contains(d.text(), "\x1b"));
    CHECK(contains(d.text(), "'slow?[2J' takes"));
}

TEST_CASE("without both rates the text has none, and without a stage that is compared no least change") {
    run_difference d;
    d.rate_before = 10;
    CHECK_FALSE(contains(d.text(), "rate:"));
    std::swap(d.rate_before, d.rate_after);
    CHECK_FALSE(contains(d.text(), "rate:"));
    d.rate_before = 10;
    CHECK(contains(d.text(), "rate: 10.0 /s instead of 10.0 /s (+0.0 %)\n"));
    d.stages = {{.stage = "batch", .num_before = 1, .num_after = 1}};
    CHECK(contains(d.text(), "too few to compare: 'batch', 1 and 1 invocations\n"));
    CHECK_FALSE(contains(d.text(), "in 95 of 100 cases"));
}

namespace {

// 40 items by 4; decode has 2 slots, takes 10 ms and gives its results in order.
template <class Policy = weir::measured>
pipeline_stats run_of() {
    weir::virtual_time time;
    const auto decode = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(10ms);
        if (n == 7) throw std::runtime_error("no");
        co_return n;
    };
    const weir::stage_options options = {.name = "decode",
                                         .concurrency = 2,
                                         .output_order = weir::output_order::input,
                                         .capacity = 5,
                                         .max_failures = 1};
    auto run = (weir::source(std::views::iota(0, 41)) | weir::pipe(decode, options) |
                weir::aggregate(4, {.name = "batch"}) | weir::sink(3))
                   .template start<Policy>(time);
    while (run.get()) {
    }
    return run.stats();
}

compared_run made_of(std::vector<compared_stage> stages) {
    compared_run run{pipeline_stats()};
    run.refused.clear();
    run.stages = std::move(stages);
    return run;
}

texts settings_of(const compared_run& a, const compared_run& b) {
    return changed_settings(a, b, pairs_of(a, b));
}
std::vector<state_difference> states_of(const compared_run& a, const compared_run& b) {
    return changed_states(a, b, pairs_of(a, b));
}

// Names of pairs, with the places of both stages.
std::string pairs_text(const compared_run& a, const compared_run& b) {
    std::string text;
    for (const weir::detail::stage_pair& each : pairs_of(a, b)) {
        text += each.before->name + std::to_string(each.before - a.stages.data()) +
                std::to_string(each.after - b.stages.data()) + " ";
    }
    return text;
}

}  // namespace

TEST_CASE("a run of statistics has their stages, with settings, invocations and times") {
    const compared_run run(run_of());
    CHECK(run.refused.empty());
    REQUIRE(run.model.has_value());
    CHECK(run.num_items == 10);
    CHECK(run.rate == Approx(9 / 0.19));  // behind the first batch, at 20 ms; the last one is at 210 ms
    REQUIRE(run.stages.size() == 4);
    const compared_stage& decode = run.stages[1];
    CHECK(decode.name == "decode");
    CHECK(decode.concurrency == 2);
    CHECK(decode.capacity == 5);
    CHECK(decode.keeps_order);
    CHECK(decode.num_tasks == 41);
    CHECK(decode.num_failures == 1);
    CHECK(decode.times.num_tasks == 40);
    CHECK(decode.times.time.mean == 10e6);
    CHECK(decode.busy.value() == Approx(1).margin(0.03));
    CHECK(decode.states.await == 410ms);
    CHECK(decode.batch_size == 0);
    CHECK(run.stages[2].batch_size == 4);
    CHECK_FALSE(run.stages[2].keeps_order);
    CHECK(run.stages[3].name == "sink");
    CHECK(run.stages[3].capacity == 3);
}

TEST_CASE("a run without statistics, or without histograms, is refused") {
    CHECK(compared_run(pipeline_stats()).refused == "it has no statistics");
    CHECK(compared_run(run_of<weir::unmeasured>()).refused == "it has no statistics");
    CHECK(compared_run(run_of<weir::summed>()).refused == "its policy keeps no histograms of the times");
    pipeline_stats one = run_of();
    one.stages.resize(1);
    CHECK(compared_run(one).refused == "it has no statistics");
    pipeline_stats at_once = run_of();
    at_once.stages[0].elapsed = 0ns;
    CHECK(compared_run(at_once).refused == "it has no statistics");
}

TEST_CASE("a run that can't be simulated is compared all the same, and says why it has no model") {
    pipeline_stats stats = run_of();
    stats.stages[1].outputs.push_back(stats.stages[1].outputs[0]);
    const compared_run run(stats);
    CHECK(run.refused.empty());
    CHECK_FALSE(run.model.has_value());
    CHECK(run.stages.size() == 4);
    CHECK_FALSE(run.no_model.empty());
    CHECK_FALSE(run.no_model.starts_with("weir: "));
    CHECK(verdict_on(run) == "not sure why it is not faster: " + run.no_model);
}

TEST_CASE("a run of a recording has its stages without the consumer's, and states of a simulation") {
    recording from = builder(awaiting({5}))
                         .stage({.name = "s",
                                 .concurrency = 2,
                                 .capacity = 7,
                                 .output_order = weir::output_order::input,
                                 .pool = 1},
                                awaiting({20}))
                         .aggregate("batch", 4)
                         .consumed();
    from.settings.pools = {0, 3};
    from.stages[1].num_failures = 10;
    from.stages.back().num_tasks = 12;
    const compared_run run(from);
    CHECK(run.refused.empty());
    REQUIRE(run.stages.size() == 4);
    const compared_stage& s = run.stages[1];
    CHECK(s.name == "s");
    CHECK(s.concurrency == 2);
    CHECK(s.capacity == 7);
    CHECK(s.keeps_order);
    CHECK(s.threads == 3);
    CHECK(run.stages[0].threads == 0);
    CHECK(s.num_tasks == 1'000);
    CHECK(s.num_failures == 10);
    CHECK(s.times.time.mean == 20e6);
    CHECK(s.times.is_exact);
    CHECK(s.states.await > 0ms);
    CHECK(s.busy.value() == Approx(1).margin(0.03));
    CHECK(run.stages[0].busy.value() == Approx(0.5).margin(0.03));  // 4 items in 160 ms, by 5 ms
    CHECK(run.stages[2].batch_size == 4);
    CHECK(run.stages[2].times.time.mean == 0);
    CHECK(run.num_items == 12);
    CHECK(run.rate == Approx(25).margin(0.5));  // as predicted
    from.rate = 7;
    from.num_items = 9;
    CHECK(compared_run(from).rate == 7);
    CHECK(compared_run(from).num_items == 9);
}

TEST_CASE("a recording that can't be simulated is refused with the reason, without the library's name") {
    recording broken = builder().stage({.name = "s"}, awaiting({10})).consumed();
    broken.stages[1].tasks[0].await = -1ms;
    CHECK(compared_run(broken).refused == "the recording has a negative time for stage 's'");
    CHECK(compared_run(broken).stages.empty());
    broken.stages.pop_back();
    CHECK(compared_run(broken).refused == "the recording has settings and samples of different stages");
    CHECK_FALSE(compared_run(recording()).refused.empty());
}

TEST_CASE("a consumer counts as a stage if it takes time; an average alone counts as very uncertain") {
    const auto consumed = [](weir::recorded_stage consumer) {
        recording from = builder().stage({.name = "s"}, awaiting({10})).consumed(std::move(consumer));
        from.num_items = 100;
        return compared_run(from);
    };
    CHECK(consumed({}).stages.back().name == "sink");
    CHECK(consumed(awaiting({0})).stages.back().name == "sink");
    const compared_run exact = consumed(awaiting({4}));
    CHECK(exact.stages.back().name == "consumer");
    CHECK(exact.stages.back().is_consumer);
    CHECK(exact.stages.back().busy.value() == Approx(0.4).margin(0.01));
    CHECK(exact.stages.back().num_tasks == 100);
    CHECK(exact.stages.back().times.time.mean == 4e6);
    CHECK(exact.stages.back().times.time.variance == 0);
    CHECK(exact.rate_error() == 0);
    weir::recorded_stage average = awaiting({4});
    average.in_sequence = false;
    const compared_run rough = consumed(average);
    CHECK(rough.stages.back().times.time.variance == Approx(6e6 * 6e6));
    CHECK(rough.stages.back().times.log_time.count == 0);
    CHECK(rough.rate_error() == Approx(1.5 * 1.5 / 1'000));
    weir::recorded_stage two = awaiting({4, 8});
    two.in_sequence = false;
    CHECK(consumed(two).stages.back().times.log_time.count == 2);
}

TEST_CASE("the error of the rate is that of the stage that varies most; without times it is 0") {
    compared_run run = made_of({{.name = "a"}, {.name = "b"}, {.name = "c"}});
    CHECK(run.rate_error() == 0);
    run.stages[0].times.time = {.mean = 10, .variance = 100, .count = 4};
    run.stages[1].times.time = {.mean = 10, .variance = 100, .count = 2};
    run.stages[2].times.time = {.mean = 100, .variance = 100, .count = 1};
    CHECK(run.rate_error() == Approx(0.5));
}

TEST_CASE("stages are paired by name, those of one name in their order") {
    const compared_run none = made_of({});
    const compared_run a = made_of({{.name = "x"}, {.name = "y"}, {.name = "x"}, {.name = "x"}});
    const compared_run b = made_of({{.name = "z"}, {.name = "x"}, {.name = "x"}, {.name = "y"}});
    CHECK(pairs_text(a, b) == "x01 y13 x22 ");
    CHECK(pairs_text(b, a) == "x10 x22 y31 ");
    CHECK(pairs_text(none, a).empty());
    CHECK(pairs_text(a, none).empty());
}

TEST_CASE("a pair has times if either stage has") {
    compared_stage with, without;
    with.times.time.mean = 1;
    CHECK(weir::detail::stage_pair{&with, &without}.has_times());
    CHECK(weir::detail::stage_pair{&without, &with}.has_times());
    CHECK_FALSE(weir::detail::stage_pair{&without, &without}.has_times());
}

TEST_CASE("each setting that differs is a sentence; a capacity that is unknown is not compared") {
    const compared_run a = made_of({{.name = "s", .concurrency = 2, .capacity = 2, .threads = 0}});
    compared_run b = a;
    CHECK(settings_of(a, b).empty());
    b.stages[0].capacity = 0;
    CHECK(settings_of(a, b).empty());
    CHECK(settings_of(b, a).empty());
    b = made_of({{.name = "s", .concurrency = 4, .capacity = 3, .keeps_order = true, .threads = 8}});
    CHECK(settings_of(a, b) == texts{"concurrency of s: 2 -> 4", "capacity behind s: 2 -> 3",
                                     "threads for s: no limit -> 8", "order of s: completion -> input"});
    CHECK(settings_of(b, a) == texts{"concurrency of s: 4 -> 2", "capacity behind s: 3 -> 2",
                                     "threads for s: 8 -> no limit", "order of s: input -> completion"});
}

TEST_CASE("batches differ if more than incomplete last ones explain") {
    const auto of = [](double size, std::uint64_t num_tasks) {
        return made_of({{.name = "batch", .batch_size = size, .num_tasks = num_tasks}});
    };
    CHECK(settings_of(of(4, 100), of(8, 100)) == texts{"batches of batch: 4 -> 8"});
    CHECK(settings_of(of(8, 100), of(4, 100)) == texts{"batches of batch: 8 -> 4"});
    CHECK(settings_of(of(4, 0), of(7.6, 0)) == texts{"batches of batch: 4 -> 8"});
    // Of 10 items by 8, one batch has 8 and one 2: 5 on average.
    CHECK(settings_of(of(8, 10), of(5, 10)).empty());
    CHECK(settings_of(of(8, 1'000), of(8, 10)).empty());
    CHECK(settings_of(of(0, 100), of(32, 100)).empty());  // unknown, as no item came out of the first run
    CHECK(settings_of(of(32, 100), of(0, 100)).empty());
}

TEST_CASE("a stage that only one run has is named, but for the consumer") {
    const compared_run a =
        made_of({{.name = "s"}, {.name = "decode"}, {.name = "consumer", .is_consumer = true}});
    const compared_run b = made_of({{.name = "s"}, {.name = "parse"}, {.name = "s"}});
    CHECK(settings_of(a, b) == texts{"only the first run has stage decode",
                                     "only the second run has stage parse",
                                     "only the second run has stage s"});
}

TEST_CASE("a stage that is named as the consumer is a stage") {
    const compared_run a = made_of({{.name = "s"}, {.name = "consumer"}});
    const compared_run b = made_of({{.name = "s"}, {.name = "consumer", .is_consumer = true}});
    CHECK(pairs_text(a, b) == "s00 ");
    CHECK(pairs_text(a, a) == "s00 consumer11 ");
    CHECK(pairs_text(b, b) == "s00 consumer11 ");
    CHECK(settings_of(a, b) == texts{"only the first run has stage consumer"});
    pipeline_stats stats = run_of();
    const double busy = compared_run(stats).stages[3].busy.value_or(-1);
    stats.stages.back().name = "consumer";
    CHECK(compared_run(stats).stages[3].busy.value_or(-1) == busy);
}

TEST_CASE("the states of a stage that was starved change if the stage before it gets slower") {
    const auto make = [&](std::int64_t ms) {
        return compared_run(builder(awaiting({ms})).stage({.name = "s"}, awaiting({5})).consumed());
    };
    CHECK(states_of(make(5), make(5)).empty());
    bool is_starved = false;
    for (const state_difference& each : states_of(make(5), make(10))) {
        if (each.stage != "s" || each.state != "wait_get") continue;
        is_starved = true;
        CHECK(each.after == Approx(0.5).margin(0.01));
        CHECK(each.after - each.before == Approx(0.5).margin(0.01));
        CHECK(each.change.value().holds(each.after - each.before));
    }
    CHECK(is_starved);
}

TEST_CASE("of runs that can't be simulated a share changes by 5 % or more; the time off does not count") {
    const auto spending = [](weir::slot_times states) { return made_of({{.name = "s", .states = states}}); };
    const compared_run before = spending({.off = 5s, .wait_get = 50ms, .await = 950ms});
    CHECK(states_of(before, spending({.off = 0s, .wait_get = 90ms, .await = 910ms})).empty());
    const auto changed = states_of(before, spending({.wait_get = 150ms, .await = 850ms}));
    REQUIRE(changed.size() == 2);
    CHECK(changed[0].stage == "s");
    CHECK(changed[0].state == "wait_get");
    CHECK(changed[0].before == Approx(0.05));
    CHECK(changed[0].after == Approx(0.15));
    CHECK_FALSE(changed[0].change.has_value());
    CHECK(changed[1].state == "await");
    CHECK(states_of(spending({}), spending({.off = 1s})).empty());
    CHECK(states_of(spending({.off = 1s}), spending({.run = 1s})).size() == 1);
}

TEST_CASE("the verdict on a run is that on its model, or the reason why there is none") {
    compared_run run(builder().stage({.name = "s"}, awaiting({10})).consumed());
    CHECK(verdict_on(run).starts_with("stage 's' is the bottleneck"));
    run.model->stages.pop_back();
    CHECK(verdict_on(run) ==
          "not sure why it is not faster: the recording has settings and samples of different stages");
    run.model.reset();
    run.no_model = "it has branches";
    CHECK(verdict_on(run) == "not sure why it is not faster: it has branches");
}
