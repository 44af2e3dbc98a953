#include "lab/stats/distributions.hpp"

#include "support/catch.hpp"

#include <cmath>

namespace {

bool near(double value, double expected) {
    return std::abs(value - expected) <= 1e-11 * (1 + std::abs(expected));
}

}  // namespace

// Expected: R's qt, pt, pnorm.
TEST_CASE("distributions: quantiles of t are R's") {
    CHECK(near(lab::t_quantile(0.975, 1), 12.706204736174694));
    CHECK(near(lab::t_quantile(0.975, 2), 4.302652729749464));
    CHECK(near(lab::t_quantile(0.975, 4), 2.7764451051977987));
    CHECK(near(lab::t_quantile(0.975, 30), 2.0422724563012373));
    CHECK(near(lab::t_quantile(0.025, 30), -2.0422724563012373));
    CHECK(std::abs(lab::t_quantile(0.5, 3)) < 1e-15);
}

TEST_CASE("distributions: probabilities of t and the normal distribution are R's") {
    CHECK(near(lab::t_two_sided(2, 10), 0.07338803477074039));
    CHECK(near(lab::t_probability(1, 1), 0.75));
    CHECK(near(lab::normal_probability(1.959963984540054), 0.975));
    CHECK(lab::t_two_sided(INFINITY, 5) == 0);
    CHECK(std::isnan(lab::t_two_sided(NAN, 5)));
}
