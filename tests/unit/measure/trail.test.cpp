#include <weir/measure/trail.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/trace_run.hpp>

#include <string>

using namespace weir::detail;

TEST_CASE("a slot whose run follows nothing has no trail, another one writes its states into its own") {
    const std::string name = "a";
    weir::virtual_time time;
    slot one(name, 0, time);
    follow(one, nullptr, 0);
    CHECK(one.trail == nullptr);
    run_trace all({});
    follow(one, &all, all.add_stage(name));
    CHECK(one.trail != nullptr);
    one.enter(slot_state::wait_put, 9);
    CHECK(one.trail->journal.count() == 1);
    CHECK(one.trail->journal[0].state == slot_state::wait_put);
}

TEST_CASE("an item that is followed keeps its slot from moving it at once, and doesn't end a slice") {
    const std::string name = "a";
    weir::virtual_time time;
    slot one(name, 0, time);
    CHECK_FALSE(one.has_urges());
    one.follow(7);
    CHECK(one.has_urges());
    CHECK_FALSE(one.has_outstayed());
    one.reads(2'000'000);
    CHECK(one.has_outstayed());
    CHECK(one.followed() == 7);
    one.follow(0);
    CHECK(one.has_urges());
    one.begin(2'000'000);
    CHECK_FALSE(one.has_urges());
}
