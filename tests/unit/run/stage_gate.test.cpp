#include <weir/run/stage_gate.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/run_core.hpp>

#include <chrono>

using weir::detail::turnstile;
using namespace std::chrono_literals;

namespace {

struct gate : weir::detail::stage_gate {
    using stage_gate::is_held_up;
    using stage_gate::stage_gate;
};

}  // namespace

TEST_CASE("a stage is held up by a pause, and by its turnstile while the run is rehearsed") {
    weir::virtual_time time;
    weir::detail::run_core<weir::measured> run(time, {}, nullptr);
    gate g(run, time);
    CHECK_FALSE(g.is_held_up(0, true));
    run.pause(true);
    CHECK(g.is_held_up(0, true));
    run.pause(false);
    g.add_turnstile();
    CHECK_FALSE(g.is_held_up(0, true));
    run.rehearse(true);
    CHECK(g.is_held_up(0, true));
    g.stile()->let_in(1);
    run.pause(true);
    CHECK(g.is_held_up(0, true));  // which takes nothing from the turnstile
    run.pause(false);
    CHECK_FALSE(g.is_held_up(0, true));
    CHECK(g.is_held_up(0, true));
    run.rehearse(false);
    CHECK_FALSE(g.is_held_up(0, true));
}

TEST_CASE("a turnstile lets nobody in before it is told to, and then exactly so many") {
    const weir::virtual_time time;
    turnstile t;
    CHECK_FALSE(t.lets_in(time));
    t.let_in(2);
    CHECK(t.lets_in(time));
    CHECK(t.lets_in(time));
    CHECK_FALSE(t.lets_in(time));
    t.let_in(1);
    t.let_in(0);
    CHECK_FALSE(t.lets_in(time));
}

TEST_CASE("a turnstile lets in the end of an epoch while it lets anything in, and doesn't count it") {
    const weir::virtual_time time;
    turnstile t;
    CHECK_FALSE(t.lets_in(time, false));
    t.let_in(1);
    CHECK(t.lets_in(time, false));
    CHECK(t.lets_in(time));
    CHECK_FALSE(t.lets_in(time, false));
}

TEST_CASE("a turnstile that is open stays so") {
    const weir::virtual_time time;
    turnstile t;
    t.open();
    t.let_in(0);
    CHECK(t.lets_in(time));
}

TEST_CASE("a turnstile measures the pace of those whom it was told to let in last, without ends of epochs") {
    weir::virtual_time time;
    turnstile t;
    const auto pass = [&](int items) {
        for (int i = 0; i < items; ++i) {
            CHECK(t.lets_in(time));
            CHECK(t.lets_in(time, false));
            time.run_until(time.now() + 1ms);
        }
    };
    t.let_in(100);
    pass(50);
    CHECK(t.meter().begun() == 50);
    CHECK(t.meter().pace()->rate() == Catch::Approx(1000));
    t.let_in(0);
    CHECK(t.meter().begun() == 50);
    t.let_in(20, 4);
    pass(8);
    CHECK(t.meter().begun() == 8);
    CHECK_FALSE(t.meter().pace().has_value());
}
