#include <weir/report/stage_state.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>

using weir::slot_times;
using weir::detail::chief_state;
using weir::detail::states_text;
using namespace std::chrono_literals;

TEST_CASE("the chief state is the one with the most time") {
    slot_times t;
    t.wait_put = 10ms;
    t.run = 9ms;
    CHECK(std::string(chief_state(t).name) == "wait_put");
    t.run = 10ms;
    CHECK(std::string(chief_state(t).name) == "run");
    CHECK(std::string(chief_state(slot_times()).name) == "off");
}

TEST_CASE("the states are told in words, those that there are") {
    slot_times t;
    t.run = 1ms;
    t.wait_get = 3ms;
    CHECK(states_text(t) == "25.0 % at work, 75.0 % starved");
    CHECK(states_text(slot_times()) == "no time has passed");
}
