#include "indicators/advice/spreads.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace {

// The variance of a group of that variance and freedom, among all.
double moderated(const std::vector<std::pair<double, double>>& groups, double variance, double freedom) {
    return std::pow(indicators::spreads(groups).moderated(variance * freedom, freedom).deviation, 2);
}

}  // namespace

TEST_CASE("groups that vary alike have the variance of all of them") {
    const std::vector<std::pair<double, double>> alike(20, {5.0, 5.0});  // each of variance 1
    CHECK(moderated(alike, 1, 5) == Catch::Approx(1).epsilon(0.2));
    CHECK(indicators::spreads(alike).moderated(5, 5).freedom == 100);
    CHECK(indicators::spreads(alike).moderated(0, 0).freedom == 100);  // what was run once
}

TEST_CASE("groups that vary by themselves have nearly their own variance") {
    std::vector<std::pair<double, double>> apart;
    for (int i = 0; i < 20; ++i)
        apart.emplace_back(5 * std::pow(10.0, i % 5 - 2), 5);  // variances 0.01 to 100
    CHECK(moderated(apart, 0.01, 5) < 0.05);
    CHECK(moderated(apart, 1, 5) == Catch::Approx(1).epsilon(0.3));
    CHECK(indicators::spreads(apart).moderated(5, 5).freedom < 10);
}

TEST_CASE("one that is surely noisier than all others has its own variance") {
    std::vector<std::pair<double, double>> one_noisy(10, {3.0, 3.0});
    one_noisy[0] = {300, 3};
    CHECK(moderated(one_noisy, 100, 3) == Catch::Approx(100));
    CHECK(indicators::spreads(one_noisy).moderated(300, 3).freedom == 3);
}

TEST_CASE("where nothing was repeated nothing is known, and where nothing varies nothing does") {
    CHECK(indicators::spreads({{0, 0}, {0, 0}}).moderated(0, 0).freedom == 0);
    CHECK(indicators::spreads().moderated(0, 0).freedom == 0);
    CHECK(moderated({{0, 2}, {0, 2}}, 0, 2) == 0);
    CHECK(moderated({{4, 2}}, 2, 2) == Catch::Approx(2));
}
