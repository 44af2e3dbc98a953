#include "lab/analysis/sequences.hpp"

#include "lab/data/input_error.hpp"
#include "lab/tables.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <numeric>
#include <set>

namespace {

using lab::configuration;

lab::run_table scattered_table(std::size_t factors) {
    return lab_tests::factorial(factors, [](const configuration& v) {
        return 100 + 50 * lab_tests::scattered(v) - 9 * v[0];
    });
}

}  // namespace

TEST_CASE("sequences: every order of all treatments is one, as far as they are asked for") {
    const auto table = scattered_table(4);
    const auto all = lab::sequences_of(table, 1000, 1);
    CHECK(all.changes.size() == 24);
    CHECK(all.treatments == std::vector<std::string>{"a", "b", "c", "d"});
    const auto some = lab::sequences_of(scattered_table(7), 100, 1);
    CHECK(some.changes.size() == 100);
    CHECK(std::set<std::vector<double>>(some.changes.begin(), some.changes.end()).size() == 100);
    CHECK(lab::sequences_of(scattered_table(7), 100, 1).changes == some.changes);
    CHECK(lab::sequences_of(scattered_table(7), 100, 2).changes != some.changes);
}

TEST_CASE(
    "sequences: all changes of a sequence sum up to the same, so that the last component has no variance") {
    const auto table = scattered_table(6);
    const auto sequences = lab::sequences_of(table, 300, 5);
    const double whole = table.runs.back().cost - table.runs.front().cost;
    for (const auto& row : sequences.changes)
        CHECK(std::abs(std::accumulate(row.begin(), row.end(), 0.0) - whole) < 1e-9);
    const auto components = lab::components_of(sequences);
    REQUIRE(components.variances.size() == 6);
    CHECK(std::abs(components.shares.back()) < 1e-9);
    CHECK(std::abs(std::accumulate(components.shares.begin(), components.shares.end(), 0.0) - 1) < 1e-9);
    for (std::size_t c = 1; c < 6; ++c) CHECK(components.variances[c] <= components.variances[c - 1]);
    for (const auto& loading : components.loadings)
        CHECK(std::abs(std::inner_product(loading.begin(), loading.end(), loading.begin(), 0.0) - 1) < 1e-9);
}

TEST_CASE("sequences: two treatments that save the same are opposites in the first component") {
    const auto table = lab_tests::factorial(4, [](const configuration& v) {
        return 1000 - (v[0] + v[1] > 0 ? 800 : 0) - 3 * v[2] - 2 * v[3] * v[2];
    });
    const auto components = lab::components_of(lab::sequences_of(table, 1000, 1));
    CHECK(components.shares[0] > 0.9);
    CHECK(components.loadings[0][0] * components.loadings[0][1] < -0.4);
}

TEST_CASE("sequences: where nothing leads one treatment at a time to several, a sentence says so") {
    auto table = scattered_table(3);
    std::erase_if(table.runs, [](const lab::measured_run& run) {
        return std::accumulate(run.values.begin(), run.values.end(), 0.0) == 1;
    });
    CHECK_THROWS_AS(lab::sequences_of(table, 10, 1), lab::input_error);
    const auto pair = lab_tests::factorial(1, [](const configuration& v) { return v[0]; });
    CHECK_THROWS_AS(lab::components_of(lab::sequences_of(pair, 10, 1)), lab::input_error);
}
