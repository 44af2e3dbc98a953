#include "lab/analysis/change_points.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <random>

namespace {

double draw(std::mt19937_64& random) {
    double sum = -6;  // of twelve uniform ones: nearly normal
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum;
}

std::vector<double> series(std::uint64_t seed, const std::vector<std::pair<std::size_t, double>>& states) {
    std::mt19937_64 random(seed);
    std::vector<double> values;
    for (const auto& [count, mean] : states)
        for (std::size_t i = 0; i < count; ++i) values.push_back(mean + draw(random));
    return values;
}

// By its definition.
double energy_statistic(const std::vector<double>& values, std::size_t at) {
    double between = 0;
    double first = 0;
    double second = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < values.size(); ++j)
            (j < at ? first : i >= at ? second : between) += std::abs(values[i] - values[j]);
    const double m = static_cast<double>(at);
    const double n = static_cast<double>(values.size() - at);
    return m * n / (m + n) * (2 * between / (m * n) - 2 * first / (m * (m - 1)) - 2 * second / (n * (n - 1)));
}

}  // namespace

TEST_CASE("change points: the fast search finds what the definition does") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto values = series(seed, {{17, 0}, {seed, 2}, {9, 1}});
        const auto best = lab::best_split(values, 3);
        double most = -1;
        std::size_t at = 0;
        for (std::size_t i = 3; i + 3 <= values.size(); ++i) {
            const double q = energy_statistic(values, i);
            if (q > most) {
                most = q;
                at = i;
            }
        }
        CHECK(best.at == at);
        CHECK(std::abs(best.q - most) < 1e-9);
    }
}

TEST_CASE("change points: the statistic of a small series by hand") {
    // Between: 2+3+1+2 = 8, of 4; within: 1 and 1. 2*2/4 * (2*8/4 - 1 - 1) = 2.
    CHECK(lab::best_split({0, 1, 2, 3}, 2).q == 2);
    CHECK(lab::best_split({0, 0, 0, 5, 5, 5}, 2).at == 3);
    CHECK(lab::best_split({0, 0, 0, 5, 5, 5}, 2).q == 15);
}

TEST_CASE("change points: steps are found where they are") {
    const auto found = lab::change_points(series(3, {{40, 0}, {40, 5}, {40, 2}}), {});
    REQUIRE(found.size() == 2);
    CHECK(found[0].at == 40);
    CHECK(found[1].at == 80);
    CHECK(found[0].p <= 0.05);
    std::vector<double> exact(30, 1.0);
    exact.insert(exact.end(), 30, 1.1);
    const auto step = lab::change_points(exact, {});
    REQUIRE(step.size() == 1);
    CHECK(step[0].at == 30);
}

TEST_CASE("change points: nothing is found in what doesn't change, in nineteen of twenty series") {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
        wrong += !lab::change_points(series(seed, {{40, 0}}), {}).empty();
    CHECK(wrong <= 18);  // 10 expected
    CHECK(lab::change_points(std::vector<double>(50, 3.0), {}).empty());
}

TEST_CASE("change points: a series too short to have one has none") {
    CHECK(lab::change_points({}, {}).empty());
    CHECK(lab::change_points({1}, {}).empty());
    CHECK(lab::change_points({1, 1, 1, 1, 9, 9, 9, 9}, {}).empty());
    lab::change_options shorter;
    shorter.least = 4;
    CHECK(lab::change_points({1, 1, 1, 1, 9, 9, 9, 9}, shorter).size() == 1);
}

TEST_CASE("change points: the same seed gives the same") {
    const auto values = series(8, {{30, 0}, {30, 1}});
    const auto first = lab::change_points(values, {});
    const auto second = lab::change_points(values, {});
    REQUIRE(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].p == second[i].p);
}
