#include <weir/run/diagnosis.hpp>

#include "support/catch.hpp"

#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

using weir::profile_trial;
using weir::trial_end;
using weir::detail::profile_lines;
using namespace std::chrono_literals;

namespace {

weir::item_pace paced(std::uint64_t items, weir::duration elapsed, double variance) {
    weir::item_pace p;
    p.num_items = items;
    p.num_blocks = 20;
    p.elapsed = elapsed;
    p.variance = variance;
    return p;
}

}  // namespace

// What the environment says, and what comes of it, is looked at in tests/programs/diagnose.

TEST_CASE("a run whose environment says nothing is not diagnosed") {
    CHECK(weir::detail::diagnosis(true) == nullptr);
    CHECK(weir::detail::diagnosis(false) == nullptr);
}

TEST_CASE("the line of a trial keeps its columns whatever the stage is called") {
    profile_lines lines(100);
    profile_trial some;
    some.num_items = 10;
    some.pace = paced(10, 10ms, 0);
    const std::string head = lines.head();
    const std::string names = head.substr(head.find("stage"));
    for (const std::string& name : {std::string(), std::string("a\n\xc3\xa9"), std::string(100, 'x')}) {
        const std::string line = lines.line(name, some, nullptr);
        CHECK(line.size() == names.size());
        CHECK(line.find('\n') == line.size() - 1);
    }
    CHECK(lines.line("a\nb", profile_trial(), 0).substr(0, 4) == "a?b ");
}

TEST_CASE("shares of a trial's time are whole percent, and a little is not nothing") {
    profile_trial t;
    t.times.run = 1ms;
    t.times.await = 999ms;
    t.readiness = 0.004;
    const std::string line = profile_lines(5).line("a", t, nullptr);
    CHECK(line.find("  <1    100         0         0         0          0         0       <1 %") !=
          std::string::npos);
}

TEST_CASE("the line of a trial that is not complete has a remark, and the foot of the table explains it") {
    for (const auto& [end, said] : {std::pair(trial_end::time_over, "time over"),
                                    {trial_end::stuck, "stuck"},
                                    {trial_end::too_few, "too few items"},
                                    {trial_end::no_thread, "no thread"},
                                    {trial_end::not_tried, "not tried"}}) {
        profile_lines lines(5);
        profile_trial t;
        t.num_items = 20;
        t.pace = paced(20, 20s, 0);
        const std::string before = lines.foot();
        CHECK(lines.line("a", t, &t).find(said) == std::string::npos);
        CHECK(lines.foot() == before);
        t.end = end;
        const std::string line = lines.line("a", t, &t);
        CHECK(line.ends_with(std::string("  ") + said + "\n"));
        CHECK((line.find("1.0 /s-1.0 /s") != std::string::npos) == (end == trial_end::time_over));
        CHECK(lines.foot().starts_with(before + said + ": "));
    }
    CHECK(profile_lines(5).line("a", profile_trial(), nullptr).ends_with("  no item\n"));
}

TEST_CASE("a trial tells a speed-up where its interval doesn't hold 1, and the interval always") {
    profile_trial slow;
    slow.num_items = 20;
    slow.pace = paced(20, 20s, 0.01);
    profile_trial fast = slow;
    fast.pace = paced(20, 5s, 0.01);
    profile_trial same = slow;
    same.pace = paced(20, 18s, 0.01);
    profile_lines lines(5);
    CHECK(lines.line("a", slow, &slow).find("1.0 /s     0.81 /s-1.2 /s       1.0           -") !=
          std::string::npos);
    CHECK(lines.line("a", fast, &slow).find("4.0 /s      3.2 /s-4.9 /s       4.0     3.0-5.3") !=
          std::string::npos);
    CHECK(lines.line("a", same, &slow).find("1.1 /s     0.90 /s-1.4 /s         -    0.83-1.5") !=
          std::string::npos);
    CHECK(lines.line("a", fast, nullptr).find("3.2 /s-4.9 /s         -           -") != std::string::npos);
}

TEST_CASE("a trial of few items has a remark, and no speed-up, nor has a trial that is compared with it") {
    profile_trial few;
    few.num_items = 12;
    few.elapsed = 3ms;
    CHECK(few.rate() == 4000);
    profile_trial many;
    many.num_items = 20;
    many.pace = paced(20, 20s, 0.01);
    CHECK_FALSE(few.speed_up(many).has_value());
    CHECK_FALSE(many.speed_up(few).has_value());
    CHECK(many.speed_up(many)->holds(1));
    profile_lines lines(5);
    const std::string before = lines.foot();
    const std::string line = lines.line("a", few, &many);
    CHECK(line.find("4.0 k/s                  -         -           -") != std::string::npos);
    CHECK(line.ends_with("  few items\n"));
    CHECK(lines.foot().starts_with(before + "few items: "));
}

namespace {

weir::pipeline_stats of_states(weir::slot_times source, weir::slot_times stage) {
    weir::pipeline_stats p;
    p.elapsed = 1s;
    p.num_items = 1'000;
    p.stages.resize(2);
    p.stages[0].kind = "source";
    p.stages[0].per_slot = {source};
    p.stages[0].num_tasks = 1'000;
    p.stages[1].name = "decode";
    p.stages[1].per_slot = {stage};
    p.stages[1].num_tasks = 1'000;
    return p;
}

}  // namespace

// tests/unit/insight/limits.test.cpp has the other causes.
TEST_CASE("a program without simulations concludes from the states alone, and says so") {
    const auto said = [](weir::slot_times source, weir::slot_times stage) {
        return weir::detail::conclusion_of_states(of_states(source, stage));
    };
    const std::string note = " (from the states alone, so less sure)";
    CHECK(
        said({.wait_put = 1s}, {.wait_get = 5ms, .run = 95ms, .await = 900ms}) ==
        "stage 'decode' is the bottleneck: it awaits 90 % of the time; give it more slots (concurrency), or "
        "make its function faster" +
            note);
    CHECK(said({.run = 1s}, {.wait_get = 150ms, .run = 850ms}) ==
          "the source is the bottleneck: it is busy 100 % of the time" + note);
    CHECK(weir::detail::conclusion_of_states({}) ==
          "not sure what limits the rate: the run has no statistics" + note);
}

TEST_CASE("the line that ends a diagnosis is one line, and has no verdict of few items") {
    weir::pipeline_stats p = of_states({.wait_put = 1s}, {.run = 1s});
    p.stages[1].name = "a\nb";
    const std::string line = weir::detail::conclusion_text(p);
    CHECK(line.starts_with(
        "weir: WEIR_DIAGNOSE=1: the 1000 items after the trials: stage 'a?b' is the bottleneck"));
    CHECK(line.find('\n') == line.size() - 1);
    p.num_items = 19;
    CHECK(weir::detail::conclusion_text(p) ==
          "weir: WEIR_DIAGNOSE=1: no verdict, as only 19 items came after the trials\n");
}
