#include "lab/stats/false_discoveries.hpp"

#include "support/catch.hpp"

#include <cmath>

// Expected: R's p.adjust(p, "BH").
TEST_CASE("false discoveries: rates are R's, whatever the order, and what has no probability isn't counted") {
    const auto rates = lab::false_discovery_rates({0.04, 0.001, NAN, 0.03, 0.5});
    CHECK(rates[0] == Catch::Approx(0.16 / 3));
    CHECK(rates[1] == Catch::Approx(0.004));
    CHECK(std::isnan(rates[2]));
    CHECK(rates[3] == Catch::Approx(0.16 / 3));  // no less than that of a larger one
    CHECK(rates[4] == Catch::Approx(0.5));
    CHECK(lab::false_discovery_rates({}).empty());
}
