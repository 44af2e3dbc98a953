#include <weir/insight/diff.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/recordings.hpp"

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
#include <vector>

using items::message_of;
using recordings::awaiting;
using recordings::builder;
using weir::diff;
using weir::pipeline_stats;
using weir::recording;
using weir::run_difference;
using namespace std::chrono_literals;

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
