#include <weir/insight/verdict.hpp>

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "support/items.hpp"
#include "support/recordings.hpp"

// tests/programs/explain/verdict.test.cpp compares the verdicts on hundreds of pipelines with the true effect of all changes.
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using explained_runs::limited_by;
using explained_runs::sleeping;
using namespace std::chrono_literals;
using recordings::awaiting;
using recordings::builder;
using recordings::running;
using weir::brief_verdict;
using weir::change_kind;
using weir::limit_cause;
using weir::pipeline_stats;
using weir::recording;
using weir::verdict;
using weir::detail::cost_of_brief_verdict;

namespace {

weir::recorded_stage varied(double mean_ms, unsigned seed, std::size_t size = 1'000) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> time(-0.5, 1);  // the mean is 1
    weir::recorded_stage sample{.num_tasks = size};
    for (std::size_t i = 0; i < size; ++i) {
        const auto ns = static_cast<std::int64_t>(1e6 * mean_ms * time(random));
        sample.tasks.push_back({weir::duration(0), weir::duration(ns), 1});
    }
    return sample;
}

}  // namespace

TEST_CASE("a slow stage is the cause, with more slots as the change") {
    const verdict v = weir::explain(builder()
                                        .stage({.name = "fast"}, awaiting({3}))
                                        .stage({.name = "slow"}, awaiting({10}))
                                        .consumed(awaiting({1})));
    CHECK(v.cause == limit_cause::stage);
    CHECK(v.stage == "slow");
    REQUIRE(v.change);
    CHECK(v.change->kind == change_kind::concurrency);
    CHECK(v.gain == Approx(1));
    CHECK(v.lost == Approx(0.5));
    CHECK(v.sure == Approx(1));
    CHECK(v.sentence ==
          "stage 'slow' is the bottleneck: it awaits 100 % of the time; "
          "slow: 2 slots instead of 1 would bring 100 % more (sure: 100 %)");
}

TEST_CASE("the sentence has no control characters of a stage's name; the stage of the verdict has them") {
    const verdict v = weir::explain(builder().stage({.name = "slow\x1b[2J"}, awaiting({10})).consumed());
    CHECK(v.stage == "slow\x1b[2J");
    CHECK_THAT(v.sentence, ContainsSubstring("stage 'slow?[2J' is the bottleneck"));
    CHECK_THAT(v.sentence, !ContainsSubstring("\x1b"));
}

TEST_CASE("a stage that works is said to be at work") {
    const verdict v = weir::explain(builder().stage({.name = "slow"}, running({10})).consumed());
    CHECK_THAT(v.sentence, ContainsSubstring("is at work 100 % of the time"));
}

TEST_CASE("times that vary, with little room between the stages, call for more room") {
    const verdict v = weir::explain(builder()
                                        .stage({.name = "a", .capacity = 1}, varied(10, 1))
                                        .stage({.name = "b", .capacity = 1}, varied(10, 2))
                                        .stage({.name = "c", .capacity = 1}, varied(10, 3))
                                        .stage({.name = "d", .capacity = 1}, varied(10, 4))
                                        .consumed({}, 1));
    CHECK(v.cause == limit_cause::room);
    CHECK(v.gain > 0.2);
    CHECK_THAT(v.sentence, ContainsSubstring("too little room"));
}

TEST_CASE("an order that holds finished items back is the cause") {
    const verdict v = weir::explain(
        builder()
            .stage(
                {.name = "mixed", .concurrency = 8, .capacity = 1, .output_order = weir::output_order::input},
                awaiting({80, 1, 1, 1, 1, 1, 1, 1}))
            .stage({.name = "next", .capacity = 1}, awaiting({1}))
            .consumed());
    CHECK(v.cause == limit_cause::order);
    CHECK(v.stage == "mixed");
}

TEST_CASE("a fixed time for each batch calls for larger batches") {
    const verdict v = weir::explain(builder()
                                        .aggregate("batch", 4)
                                        .stage({.name = "a"}, awaiting({10}))
                                        .stage({.name = "b"}, awaiting({10}))
                                        .consumed());
    CHECK(v.cause == limit_cause::batch);
    CHECK(v.stage == "batch");
    REQUIRE(v.change);
    CHECK(v.change->value == Approx(8));
    CHECK_THAT(v.sentence,
               ContainsSubstring("100 % more, if the stages behind take as long for each of them"));
}

TEST_CASE("too few threads, a slow source and a slow consumer are causes") {
    recording few = builder()
                        .stage({.name = "a", .concurrency = 4}, running({10}))
                        .stage({.name = "b", .concurrency = 4}, running({10}))
                        .consumed();
    few.settings.pools = {2};
    CHECK(weir::explain(few).cause == limit_cause::threads);
    CHECK(weir::explain(builder(awaiting({10})).stage({.name = "a"}, awaiting({3})).consumed()).cause ==
          limit_cause::source);
    const verdict consumer =
        weir::explain(builder().stage({.name = "a"}, awaiting({3})).consumed(awaiting({9})));
    CHECK(consumer.cause == limit_cause::consumer);
    CHECK_THAT(consumer.sentence, ContainsSubstring("keeps up"));
}

TEST_CASE("more threads are named before a faster function that would bring as much") {
    recording few = builder().stage({.name = "a", .concurrency = 4}, running({10})).consumed();
    few.settings.pools = {1};
    const verdict v = weir::explain(few);
    CHECK(v.cause == limit_cause::threads);
    REQUIRE(v.change);
    CHECK(v.change->kind == change_kind::threads);
    CHECK(v.gain == Approx(1));
}

TEST_CASE("of a stage that computes, with a slot for each thread, more slots are said to need more threads") {
    recording both = builder().stage({.name = "a", .concurrency = 2}, running({10})).consumed();
    const std::string note = "; more slots would need more threads, too: there are 2";
    both.settings.pools = {2};
    CHECK_THAT(weir::explain(both).sentence, EndsWith("would bring 100 % more (sure: 100 %)" + note));
    both.settings.pools = {3};
    CHECK_THAT(weir::explain(both).sentence, !ContainsSubstring("more threads, too"));
    both.stages[1] = awaiting({10});
    both.settings.pools = {2};
    CHECK(weir::explain(both).change->kind == change_kind::concurrency);
}

TEST_CASE("a run whose few long items came by chance is explained, as each order of them is possible") {
    const auto run = [](std::size_t num_slots, verdict* why) {
        weir::virtual_time clock;
        const auto rarely_long = [](int n) -> weir::task<int> {
            co_await weir::sleep_for(n % 100 == 57 ? 1s : 2ms);
            co_return n;
        };
        auto started = (weir::source(std::views::iota(0, 2'000)) |
                        weir::pipe(rarely_long, {.name = "a", .concurrency = num_slots}) |
                        sleeping("b", 5ms) | weir::sink())
                           .start(clock);
        static_cast<void>(started.drain());
        if (why != nullptr) *why = weir::explain(started.stats());
        const auto brief = brief_verdict(started.stats());
        if (why != nullptr) {
            REQUIRE(brief);
            CHECK(brief->change == why->change);
        }
        return started.stats().rate();
    };
    verdict v;
    const double before = run(2, &v);
    CHECK(v.cause == limit_cause::stage);
    CHECK(v.stage == "a");
    REQUIRE(v.change);
    CHECK(v.change->kind == change_kind::concurrency);
    CHECK(1 + v.gain == Approx(run(4, nullptr) / before).epsilon(0.2));
}

TEST_CASE("if nothing but the consumer takes time, the consumer is the cause") {
    CHECK(weir::explain(builder().stage({.name = "a"}, {}).consumed(awaiting({9}))).cause ==
          limit_cause::consumer);
    CHECK(weir::explain(builder().aggregate("batch", 4).consumed(awaiting({9}))).cause ==
          limit_cause::consumer);
}

TEST_CASE("a pipeline in which no single change helps is balanced, and has no change") {
    const verdict v = weir::explain(builder(awaiting({10}))
                                        .stage({.name = "a"}, awaiting({10}))
                                        .stage({.name = "b"}, awaiting({10}))
                                        .consumed(awaiting({10})));
    CHECK(v.cause == limit_cause::balanced);
    CHECK_FALSE(v.change);
    CHECK(v.gain == 0);
}

TEST_CASE("a run that can't be explained has no cause, and the sentence says why") {
    recording run = builder().stage({.name = "a"}, awaiting({10})).consumed();
    run.rate = 50;
    const verdict v = weir::explain(run);
    CHECK(v.cause == limit_cause::unsure);
    CHECK(v.sure == 0);
    CHECK_THAT(v.sentence, ContainsSubstring("not sure") && ContainsSubstring("I can't explain this run"));
    CHECK_THAT(weir::explain(weir::pipeline_stats()).sentence,
               ContainsSubstring("not sure") && ContainsSubstring("no statistics"));
}

TEST_CASE("resamples that disagree make a verdict unsure") {
    weir::what_if_result result;
    result.today.rate = 100;
    const recording from =
        builder().stage({.name = "a"}, awaiting({10})).stage({.name = "b"}, awaiting({10})).consumed();
    result.changes.push_back({{change_kind::concurrency, "a", 2}, 150, 0, 0, 0.5, {0.5, 0.1, 0.1, 0.5}});
    result.changes.push_back({{change_kind::concurrency, "b", 2}, 140, 0, 0, 0.4, {0.1, 0.5, 0.5, 0.1}});
    const verdict v = weir::judge(result, from);
    CHECK(v.cause == limit_cause::unsure);
    CHECK(v.sure == Approx(0.5));
    CHECK_THAT(v.sentence, ContainsSubstring("not sure: perhaps stage 'a'"));
    result.changes[0].gains = {0.5, 0.5, 0.5, 0.5};
    CHECK(weir::judge(result, from).cause == limit_cause::stage);
}

TEST_CASE("stages may have the names of the ends of a pipeline") {
    weir::virtual_time clock;
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(slow, {.name = "consumer"}) |
                weir::for_each([](int) {}, {.name = "sink"}))
                   .start(clock);
    run.wait();
    const verdict v = weir::explain(run.stats());
    CHECK(v.cause == limit_cause::stage);
    CHECK(v.stage == "consumer");
    REQUIRE(v.change);
    CHECK(v.change->stage == "consumer");
}

TEST_CASE("causes have the names that documents use") {
    CHECK(weir::name_of(limit_cause::stage) == "stage");
    CHECK(weir::name_of(limit_cause::threads) == "workers");
    CHECK(weir::name_of(limit_cause::unsure) == "unsure");
}

TEST_CASE("a limit of bytes that leaves room for one item is the cause, as the run without it shows") {
    const auto rate = [](std::size_t max_bytes, weir::verdict* why) {
        weir::virtual_time clock;
        std::mt19937_64 first(1), second(2);
        const auto slow = [](std::mt19937_64& random, std::vector<char> v) -> weir::task<std::vector<char>> {
            co_await weir::sleep_for(random() % 2 * 20ms);
            co_return v;
        };
        const auto pipeline = weir::source(std::vector<int>(1'000)) |
                              weir::pipe([&](int) { return slow(first, std::vector<char>(1'000)); },
                                         {.name = "a", .capacity = 64, .max_bytes = max_bytes}) |
                              weir::pipe([&](std::vector<char> v) { return slow(second, std::move(v)); },
                                         {.name = "b", .capacity = 64}) |
                              weir::sink(64);
        auto run = pipeline.start(clock);
        CHECK(items::take_all(run).size() == 1'000);
        if (why != nullptr) *why = weir::explain(run.stats());
        return run.stats().rate();
    };
    verdict v;
    const double limited = rate(1'500, &v);
    CHECK(v.cause == limit_cause::bytes);
    CHECK(v.stage == "a");
    CHECK_THAT(v.sentence, ContainsSubstring("room for about 1 of its items"));
    CHECK(1 + v.gain == Approx(rate(0, nullptr) / limited).epsilon(0.1));
}

TEST_CASE("a gain without a limit is said without a number") {
    const verdict v = weir::explain(builder().stage({.name = "free"}, {}).consumed(awaiting({10})));
    CHECK(v.cause == limit_cause::consumer);
    CHECK_THAT(v.sentence, ContainsSubstring("would bring more than ten times as much"));
}

namespace {

template <class Pipeline>
pipeline_stats stats_of(const Pipeline& pipeline) {
    weir::virtual_time clock;
    auto run = pipeline.start(clock);
    static_cast<void>(run.drain());
    return run.stats();
}

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

}  // namespace

TEST_CASE("a brief verdict is that of explain") {
    const auto brief = brief_verdict(limited_by("slow"));
    REQUIRE(brief);
    const verdict whole = weir::explain(limited_by("slow"));
    CHECK(brief->sentence == explained_runs::sentence);
    CHECK(brief->sentence == whole.sentence);
    CHECK(brief->cause == limit_cause::stage);
    CHECK(brief->stage == whole.stage);
    CHECK(brief->change == whole.change);
    CHECK(brief->sure == 1);
}

TEST_CASE("two stages that are equally slow are balanced, and that is sure") {
    const auto v = brief_verdict(explained_runs::balanced());
    REQUIRE(v);
    CHECK(v->cause == limit_cause::balanced);
    CHECK(v->sure == 1);
}

TEST_CASE("there is no brief verdict without anything to judge") {
    CHECK_FALSE(brief_verdict(pipeline_stats()));
    CHECK(brief_verdict(limited_by("slow", 20)));
    CHECK_FALSE(brief_verdict(limited_by("slow", 19)));
    // A stage with few items between others with many.
    CHECK_FALSE(brief_verdict(stats_of(numbers(100) | weir::aggregate(10) |
                                       weir::pipe([](std::vector<int> b) { return b; }) |
                                       weir::disaggregate() | weir::sink())));
    pipeline_stats branched = limited_by("slow");
    branched.stages[1].outputs.push_back(0);
    CHECK(brief_verdict(branched));
    for (weir::stage_stats& each : branched.stages) each.per_slot.clear();
    CHECK_FALSE(brief_verdict(branched));
}

TEST_CASE("a brief verdict of a run without histograms is that of the states") {
    weir::virtual_time clock;
    auto run = (numbers(200) | sleeping("a", 10ms) | weir::sink()).start<weir::summed>(clock);
    static_cast<void>(run.drain());
    const auto v = brief_verdict(run.stats());
    REQUIRE(v);
    CHECK(v->cause == limit_cause::stage);
    CHECK(v->stage == "a");
    CHECK(v->sure < 0.8);
    CHECK_FALSE(v->change);
}

TEST_CASE("brief verdicts of statistics that no run has throw nothing") {
    pipeline_stats p = limited_by("slow");
    p.stages[1].name = p.stages[2].name;  // which of them a change is for is not known
    CHECK_NOTHROW(brief_verdict(p));
    p.stages[2].outputs = {77};
    CHECK_NOTHROW(brief_verdict(p));
    p.channels.clear();
    CHECK_NOTHROW(brief_verdict(p));
}

TEST_CASE("a brief verdict never takes longer than the run, or 0.1 s") {
    pipeline_stats p = limited_by("slow");
    const weir::duration cost = cost_of_brief_verdict(p);
    CHECK(cost > 1ms);
    CHECK(cost < 20ms);
    // The states of a shorter run don't matter here.
    p.elapsed = cost;
    CHECK(brief_verdict(p));
    p.elapsed = cost - 1ns;
    CHECK_FALSE(brief_verdict(p));
    const auto batches_of = [](std::size_t size, int n) {
        return stats_of(numbers(n) | weir::aggregate(size) | weir::pipe([](std::vector<int> b) {
                            return explained_runs::sleep_and_give(10ms, b[0]);
                        }) |
                        weir::sink());
    };
    // Batches of 64: fewer of them are simulated.
    CHECK(cost_of_brief_verdict(batches_of(64, 2'000)) < 100ms);
    CHECK(brief_verdict(batches_of(64, 2'000)));
    CHECK(cost_of_brief_verdict(batches_of(4'096, 100'000)) > 500ms);
    CHECK_FALSE(brief_verdict(batches_of(4'096, 100'000)));
    CHECK(cost_of_brief_verdict(pipeline_stats()) == 0ns);
}

TEST_CASE("a brief verdict of many stages is that of the states") {
    weir::virtual_time clock;
    weir::stage_list<int> same;
    for (int i = 0; i < 20; ++i)
        same.add(explained_runs::sleeping("s" + std::to_string(i), i == 7 ? weir::duration(10ms) : 1ms));
    auto run = (numbers(200) | std::move(same) | weir::sink()).start(clock);
    static_cast<void>(run.drain());
    const auto v = brief_verdict(run.stats());
    REQUIRE(v);
    CHECK(v->stage == "s7");
    CHECK_THAT(v->sentence, ContainsSubstring("its prediction would take too long for a report"));
}

TEST_CASE("the rate of many slots with equal times is that of whole waves of invocations") {
    for (const std::size_t slots : {10U, 110U, 1'000U}) {
        weir::virtual_time clock;
        const auto download = [](int n) -> weir::task<int> {
            co_await weir::sleep_for(1s);
            co_return n;
        };
        auto run = (weir::source(std::views::iota(0, static_cast<int>(60 * slots))) |
                    weir::pipe(download, {.name = "download", .concurrency = slots}) | weir::sink())
                       .start(clock);
        static_cast<void>(run.drain());
        const weir::pipeline_stats stats = run.stats();
        CAPTURE(slots);
        const weir::what_if_result result = weir::what_if(weir::record_of(stats), {.simulation = {}});
        CHECK(result.refused.empty());
        CHECK(result.today.rate == Approx(static_cast<double>(slots)).epsilon(0.01));
        for (const weir::predicted_change& each : result.changes) {
            if (each.change.kind == weir::change_kind::concurrency)
                CHECK(each.gain == Approx(1).epsilon(0.02));
        }
        const auto brief = weir::brief_verdict(stats);
        REQUIRE(brief);
        CHECK(brief->stage == "download");
    }
}
