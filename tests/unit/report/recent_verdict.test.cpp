#include <weir/report/recent_verdict.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"

#include <weir/weir.hpp>

#include <chrono>

using namespace std::chrono_literals;
using weir::pipeline_stats;
using weir::detail::cost_of_brief_verdict;
using weir::detail::recent_verdict;

namespace {

// A lap of the same length as `like`, in which nothing came to an end.
pipeline_stats empty_lap(const pipeline_stats& like) {
    pipeline_stats lap = like - like;
    lap.elapsed = like.elapsed;
    return lap;
}

}  // namespace

TEST_CASE("a recent verdict is made when it costs 1 % of the time since the last one, of all laps since") {
    pipeline_stats lap = explained_runs::limited_by("slow", 2'000);
    const weir::duration cost = cost_of_brief_verdict(lap);
    REQUIRE(100 * cost < lap.elapsed);
    recent_verdict recent;
    const auto& v = recent.add(lap);
    REQUIRE(v);
    CHECK(v->sentence == explained_runs::sentence);

    const pipeline_stats other = explained_runs::limited_by("other", 200);
    const weir::duration pause = 100 * cost_of_brief_verdict(other) - other.elapsed;
    REQUIRE(pause > 0ns);
    CHECK(recent.add(other)->stage == "slow");  // too short
    pipeline_stats rest = other - other;
    rest.elapsed = pause - 1ns;
    CHECK(recent.add(rest)->stage == "slow");
    rest.elapsed = 1ns;
    CHECK(recent.add(rest)->stage != "slow");  // now it is the verdict of the last three laps
}

TEST_CASE("without items there is no recent verdict, and the last one stays") {
    const pipeline_stats lap = explained_runs::limited_by("slow", 2'000);
    recent_verdict recent;
    CHECK_FALSE(recent.add(empty_lap(lap)));
    CHECK_FALSE(recent.add(pipeline_stats()));
    recent_verdict later;
    CHECK(later.add(lap));
    CHECK(later.add(empty_lap(lap))->stage == "slow");
    CHECK(later.add(pipeline_stats())->stage == "slow");
}
