#include <weir/report/verdict_text.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"

#include <weir/weir.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::pipeline_stats;
using weir::detail::cost_of_brief_verdict;
using weir::detail::recent_verdict;

TEST_CASE("a verdict is one line of a log, also if it has no stage, or one with a strange name") {
    weir::verdict v;
    v.sentence = "not sure";
    CHECK(weir::detail::verdict_line(v) == "[verdict]\tcause=unsure gain=0.00 sure=0.00: not sure.\n");
    v.cause = weir::limit_cause::threads;
    v.stage = "a\n\"b\"\r";
    v.gain = 0.126;
    v.sure = 0.8;
    CHECK(weir::detail::verdict_line(v) ==
          "[verdict]\tcause=workers stage=\"a 'b' \" gain=0.13 sure=0.80: not sure.\n");
}

TEST_CASE("a verdict in JSON has its change in the form in which changes are read") {
    using enum weir::change_kind;
    weir::verdict v;
    v.sentence = "\"so\"";
    CHECK(
        weir::detail::verdict_json(v) ==
        R"({"cause":"unsure","stage":null,"lost":0.0000,"gain":0.0000,"change":null,"sure":0.00,"sentence":"\"so\""})");
    for (const auto& [change, text] : std::vector<std::pair<weir::setting_change, std::string>>{
             {{faster, "a\"b", 0.5}, R"({"stage":"a\"b","faster":0.5000})"},
             {{concurrency, "a", 4}, R"({"stage":"a","concurrency":4})"},
             {{capacity, "a", 16}, R"({"stage":"a","capacity":16})"},
             {{capacity, "", 16}, R"({"capacity":16})"},
             {{batch_size, "a", 8}, R"({"stage":"a","batch":8})"},
             {{completion_order, "a"}, R"({"stage":"a","output_order":"completion"})"},
             {{threads, "", 4}, R"({"workers":4})"},
             {{consumer, "", 0.002}, R"({"consumer_ms":2.000000})"},
             {{source}, R"({"source":"unlimited"})"}}) {
        v.change = change;
        CHECK_THAT(weir::detail::verdict_json(v),
                   Catch::Matchers::ContainsSubstring(",\"change\":" + text + ","));
    }
}

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
