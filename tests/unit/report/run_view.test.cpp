#include <weir/report/run_view.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using weir::pipeline_stats;
using weir::slot_times;
using weir::detail::labels_of;
using weir::detail::lap_figures;
using weir::detail::longest_state;
using weir::detail::no_value;
using weir::detail::quantities;
using weir::detail::state_bar;
using weir::detail::states_text;

namespace {

enum which { ave_time, num_tasks, rate, readiness, get_time, put_time };

pipeline_stats lap() {
    pipeline_stats p;
    p.elapsed = 1s;
    weir::stage_stats s;
    s.elapsed = 1s;
    s.num_tasks = 11;
    s.num_failures = 1;
    s.task_time = 100ms;
    weir::channel_stats c;
    c.elapsed = 1s;
    c.num_put = 20;
    c.num_get = 10;
    c.put_wait = 400ms;
    c.get_blocked = 50ms;
    c.empty = 250ms;
    p.stages = {s};
    p.channels = {c};
    return p;
}

}  // namespace

TEST_CASE("the six figures of a page are those of the guide, defined as in statistics") {
    lap_figures laps(8);
    laps.add(lap());
    const pipeline_stats p = lap();
    REQUIRE(quantities().size() == 6);
    const auto ns = [](weir::duration d) { return static_cast<double>(d.count()); };
    CHECK(laps.value(ave_time, 0, 0, 1) == ns(p.stages[0].ave_time()));
    CHECK(laps.value(num_tasks, 0, 0, 1) == 11);
    CHECK(laps.value(rate, 0, 0, 1) == p.channels[0].rate());
    CHECK(laps.value(readiness, 0, 0, 1) == p.channels[0].readiness());
    CHECK(laps.value(get_time, 0, 0, 1) == ns(p.channels[0].ave_get_gap()));
    CHECK(laps.value(put_time, 0, 0, 1) == ns(p.channels[0].ave_put_wait()));
}

TEST_CASE("the figure of several laps is that of their sums; tasks are counted per lap") {
    lap_figures laps(8);
    pipeline_stats busy = lap();
    busy.elapsed = busy.channels[0].elapsed = 2s;
    busy.stages[0].num_tasks = 31;
    busy.stages[0].task_time = 700ms;
    laps.add(lap());
    laps.add(busy);
    CHECK(laps.size() == 2);
    CHECK(laps.start_of(1) == 1s);
    CHECK(laps.start_of(2) == 3s);
    CHECK(laps.start_of(99) == 3s);
    CHECK(laps.value(ave_time, 0, 0, 2) == 20e6);
    CHECK(laps.value(num_tasks, 0, 0, 2) == 21);
    CHECK(std::abs(laps.value(rate, 0, 0, 2) - 20.0 / 3) < 1e-9);
}

TEST_CASE("there is no figure without events, nor for a stage or queue that does not exist") {
    lap_figures laps(8);
    pipeline_stats idle = lap();
    idle.stages[0].num_tasks = idle.stages[0].num_failures = 0;
    idle.channels[0].num_get = 0;
    laps.add(idle);
    CHECK(laps.value(ave_time, 0, 0, 1) == no_value);
    CHECK(laps.value(num_tasks, 0, 0, 1) == 0);
    CHECK(laps.value(get_time, 0, 0, 1) == no_value);
    CHECK(laps.value(put_time, 1, 0, 1) == no_value);
}

TEST_CASE("labels are not empty, not long, and unique") {
    const std::vector<std::string> labels =
        labels_of({"a", "", "a", "b", "a", std::string(30, 'x'), std::string(40, 'x')});
    CHECK(labels == std::vector<std::string>{"a", "(no name)", "a (2)", "b", "a (3)",
                                             std::string(23, 'x') + "…", std::string(23, 'x') + "… (2)"});
    CHECK(labels_of({"a", "a", "a (2)", "a"}) ==
          std::vector<std::string>{"a", "a (2)", "a (2) (2)", "a (3)"});
    CHECK(labels_of({"a (2)", "a", "a"}) == std::vector<std::string>{"a (2)", "a", "a (3)"});
}

TEST_CASE("the chief state is the one with the most time") {
    slot_times t;
    t.wait_put = 10ms;
    t.run = 9ms;
    CHECK(std::string(longest_state(t).name) == "wait_put");
    t.run = 10ms;
    CHECK(std::string(longest_state(t).name) == "run");
    CHECK(std::string(longest_state(slot_times()).name) == "off");
}

TEST_CASE("the states that have time are described in words") {
    slot_times t;
    t.run = 1ms;
    t.wait_get = 3ms;
    CHECK(states_text(t) == "25.0 % at work, 75.0 % starved");
    CHECK(states_text(slot_times()) == "no time has passed");
}

TEST_CASE("the parts of a bar follow each other and fill the bar") {
    slot_times t;
    t.run = 1ms;
    t.await = 1ms;
    t.off = 1ms;
    CHECK(state_bar(t, 10, 5, 100).text ==
          R"(<path class="st-run" d="M10 5h33"/><path class="st-await" d="M43 5h34"/>)"
          R"(<path class="st-off" d="M77 5h33"/>)");
    CHECK(state_bar(slot_times(), 0, 0, 100).text.empty());
}
