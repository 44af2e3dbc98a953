#include <weir/measure/trail.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/trace_run.hpp>

#include <string>

using weir::detail::trail_marks;

TEST_CASE("a mark is found once, at its number") {
    trail_marks m(3, 2, true);
    CHECK(m.queue() == 3);
    CHECK(m.take(7) == 0);
    CHECK(m.set(7, 42));
    CHECK(m.take(8) == 0);
    CHECK(m.take(7) == 42);
    CHECK(m.take(7) == 0);
    CHECK(m.lost() == 0);
}

TEST_CASE("a place whose mark was not taken yet is not given away, which is counted") {
    trail_marks m(0, 2, true);
    CHECK(m.set(5, 1));
    CHECK_FALSE(m.set(5 + 1024, 2));
    CHECK(m.lost() == 1);
    CHECK(m.take(5 + 1024) == 0);
    CHECK(m.take(5) == 1);
    CHECK(m.set(5 + 1024, 2));
}

TEST_CASE("a queue that no stage takes from has no marks") {
    trail_marks m(0, 2, false);
    CHECK_FALSE(m.set(0, 1));
    CHECK(m.take(0) == 0);
    CHECK(m.lost() == 0);
}

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
    CHECK_FALSE(one.needs_slow_path());
    one.follow(7);
    CHECK(one.needs_slow_path());
    CHECK_FALSE(one.has_used_time_slice());
    one.record_reading(2'000'000);
    CHECK(one.has_used_time_slice());
    CHECK(one.followed() == 7);
    one.follow(0);
    CHECK(one.needs_slow_path());
    one.begin(2'000'000);
    CHECK_FALSE(one.needs_slow_path());
}
