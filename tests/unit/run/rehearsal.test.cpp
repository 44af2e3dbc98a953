#include <weir/run/rehearsal.hpp>

#include "support/catch.hpp"

#include <weir/measure/clock.hpp>

TEST_CASE("what a stage has done begins with nothing") {
    const weir::detail::stage_figures f;
    CHECK(f.given + f.taken + f.results + f.num_tasks + f.num_failures == 0);
    CHECK(f.times.total() == weir::duration(0));
}
