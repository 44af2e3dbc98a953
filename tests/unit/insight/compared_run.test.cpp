#include <weir/insight/compared_run.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Catch::Approx;
using recordings::awaiting;
using recordings::builder;
using weir::pipeline_stats;
using weir::recording;
using weir::state_difference;
using weir::detail::changed_settings;
using weir::detail::changed_states;
using weir::detail::compared_run;
using weir::detail::compared_stage;
using weir::detail::pairs_of;
using namespace std::chrono_literals;
using texts = std::vector<std::string>;

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
