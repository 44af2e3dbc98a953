#include <weir/insight/run_difference.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <chrono>
#include <sstream>
#include <string>
#include <utility>

using items::contains;
using weir::run_difference;
using weir::stage_difference;
using namespace std::chrono_literals;

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
