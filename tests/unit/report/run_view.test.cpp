#include <weir/report/run_view.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

using weir::slot_times;
using weir::detail::chief_state;
using weir::detail::labels_of;
using weir::detail::state_bar;
using weir::detail::states_text;
using namespace std::chrono_literals;

TEST_CASE("labels are not empty, not long, and unique") {
    const std::vector<std::string> labels =
        labels_of({"a", "", "a", "b", "a", std::string(30, 'x'), std::string(40, 'x')});
    CHECK(labels == std::vector<std::string>{"a", "(no name)", "a (2)", "b", "a (3)",
                                             std::string(23, 'x') + "…", std::string(23, 'x') + "… (2)"});
}

TEST_CASE("the chief state is the one with the most time") {
    slot_times t;
    t.wait_put = 10ms;
    t.run = 9ms;
    CHECK(std::string(chief_state(t).name) == "wait_put");
    t.run = 10ms;
    CHECK(std::string(chief_state(t).name) == "run");
    CHECK(std::string(chief_state(slot_times()).name) == "off");
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
