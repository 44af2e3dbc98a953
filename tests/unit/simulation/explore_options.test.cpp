#include <weir/simulation/explore_options.hpp>

#include "support/catch.hpp"

#include <string>

namespace sim = weir::simulation;

TEST_CASE("a scenario is explored at random, and nothing is bounded closely, unless it is said") {
    const sim::explore_options options;
    CHECK(options.schedules == 1'000);
    CHECK(options.strategy == sim::strategy::random);
    CHECK(options.deviations > 1'000'000);
    CHECK(options.replay.empty());
    CHECK_FALSE(sim::explored().complete);
}

TEST_CASE("a failure keeps what went wrong, the seed and the schedule") {
    const sim::schedule_failure e("all of it", "one item is missing", 7, "0x12 1");
    CHECK(std::string(e.what()) == "all of it");
    CHECK(e.cause() == "one item is missing");
    CHECK(e.seed() == 7);
    CHECK(e.schedule() == "0x12 1");
}
