#include <weir/insight/brief_verdict.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"

#include <weir/weir.hpp>

#include <chrono>
#include <ranges>
#include <string>

using namespace std::chrono_literals;
using explained_runs::limited_by;
using explained_runs::sleeping;
using weir::brief_verdict;
using weir::limit_cause;
using weir::pipeline_stats;
using weir::verdict;
using weir::detail::cost_of_brief_verdict;

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
    CHECK(cost_of_brief_verdict(batches_of(4'096, 100'000)) > 100ms);
    CHECK_FALSE(brief_verdict(batches_of(4'096, 100'000)));
    CHECK(cost_of_brief_verdict(pipeline_stats()) >= 0ns);
}
