#include <weir/run/stage_gate.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/run_core.hpp>

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
