#include <weir/run/stage_gate.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/run_core.hpp>

#include <chrono>

using weir::detail::item_quota;
using namespace std::chrono_literals;

namespace {

struct gate : weir::detail::stage_gate {
    using stage_gate::must_wait;
    using stage_gate::stage_gate;
};

}  // namespace

TEST_CASE("a slot has to wait in a pause, and for its quota while the run is profiled") {
    weir::virtual_time time;
    weir::detail::run_core<weir::measured> run(time, {}, nullptr);
    gate g(run, time);
    CHECK_FALSE(g.must_wait(0, true));
    run.pause(true);
    CHECK(g.must_wait(0, true));
    run.pause(false);
    g.add_quota();
    CHECK_FALSE(g.must_wait(0, true));
    run.set_profiled(true);
    CHECK(g.must_wait(0, true));
    g.quota()->admit(1);
    run.pause(true);
    CHECK(g.must_wait(0, true));  // which takes nothing from the item_quota
    run.pause(false);
    CHECK_FALSE(g.must_wait(0, true));
    CHECK(g.must_wait(0, true));
    run.set_profiled(false);
    CHECK_FALSE(g.must_wait(0, true));
}

TEST_CASE("a quota admits no item before admit, and then exactly so many") {
    const weir::virtual_time time;
    item_quota t;
    CHECK_FALSE(t.try_admit(time));
    t.admit(2);
    CHECK(t.try_admit(time));
    CHECK(t.try_admit(time));
    CHECK_FALSE(t.try_admit(time));
    t.admit(1);
    t.admit(0);
    CHECK_FALSE(t.try_admit(time));
}

TEST_CASE("a quota admits ends of epochs while it admits items, and doesn't count them") {
    const weir::virtual_time time;
    item_quota t;
    CHECK_FALSE(t.try_admit(time, false));
    t.admit(1);
    CHECK(t.try_admit(time, false));
    CHECK(t.try_admit(time));
    CHECK_FALSE(t.try_admit(time, false));
}

TEST_CASE("an open quota stays open") {
    const weir::virtual_time time;
    item_quota t;
    t.open();
    t.admit(0);
    CHECK(t.try_admit(time));
}

TEST_CASE("a quota measures the pace of the items that were admitted last, without ends of epochs") {
    weir::virtual_time time;
    item_quota t;
    const auto pass = [&](int items) {
        for (int i = 0; i < items; ++i) {
            CHECK(t.try_admit(time));
            CHECK(t.try_admit(time, false));
            time.run_until(time.now() + 1ms);
        }
    };
    t.admit(100);
    pass(50);
    CHECK(t.meter().begun() == 50);
    CHECK(t.meter().pace()->rate() == Catch::Approx(1000));
    t.admit(0);
    CHECK(t.meter().begun() == 50);
    t.admit(20, 4);
    pass(8);
    CHECK(t.meter().begun() == 8);
    CHECK_FALSE(t.meter().pace().has_value());
}
