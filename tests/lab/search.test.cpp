#include "lab/analysis/search.hpp"

#include "lab/analysis/surrogate.hpp"
#include "lab/data/input_error.hpp"
#include "lab/tables.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace {

using lab::configuration;

// 1024 configurations with pairs that matter, of which a few are within 2 % of the best.
double population(const configuration& v) {
    return 200 + 17 * v[0] - 9 * v[1] + 12 * v[2] + 2 * v[3] - v[4] + 4 * v[9] - 13 * v[0] * v[9] +
           11 * v[2] * v[9] - 18 * v[1] * v[2] - 8 * v[0] * v[2] + 6 * v[7] * v[8] - 15 * v[5] * v[6] +
           8 * v[5] + 7 * v[6] + 0.5 * lab_tests::scattered(v);
}

struct searched {
    lab::run_table table = lab_tests::factorial(10, population);
    std::vector<configuration> candidates;
    double optimum = 1e9;
    searched() {
        for (const lab::measured_run& run : table.runs) {
            candidates.push_back(run.values);
            optimum = std::min(optimum, run.cost);
        }
    }
    [[nodiscard]] lab::search_result run(const lab::search_options& options) const {
        return lab::search(
            table.factors, candidates, [&](std::size_t c) { return table.runs[c].cost; }, options);
    }
};

}  // namespace

TEST_CASE("search: a configuration as good as the optimum is found in a twentieth of the runs") {
    const searched in;
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        lab::search_options options;
        options.budget = 51;
        options.seed = seed;
        const auto result = in.run(options);
        CHECK(result.runs.size() == 51);
        found += result.cost <= 1.002 * in.optimum;
        CHECK(result.cost == in.table.runs[result.best].cost);
    }
    CHECK(found >= 19);
}

TEST_CASE("search: no configuration is run twice, and the whole population is enough") {
    auto in = searched();
    in.candidates.resize(40);
    lab::search_options options;
    options.budget = 60;
    const auto result = in.run(options);
    CHECK(result.runs.size() == 40);
    std::set<std::size_t> different;
    for (const lab::search_run& run : result.runs) different.insert(run.candidate);
    CHECK(different.size() == 40);
    double best = 1e9;
    for (std::size_t c = 0; c < 40; ++c) best = std::min(best, in.table.runs[c].cost);
    CHECK(result.cost == best);
}

TEST_CASE("search: more is better where a rate is measured, and costs may be negative") {
    const searched in;
    lab::search_options options;
    options.budget = 51;
    options.more_is_better = true;
    const auto result = lab::search(
        in.table.factors, in.candidates, [&](std::size_t c) { return 100 - in.table.runs[c].cost; }, options);
    CHECK(result.cost > 100 - 1.02 * in.optimum);
}

TEST_CASE("search: what fails isn't the best, and is a run") {
    const searched in;
    lab::search_options options;
    options.budget = 51;
    const auto result = lab::search(
        in.table.factors, in.candidates,
        [&](std::size_t c) { return in.candidates[c][1] == 1 ? std::nan("") : in.table.runs[c].cost; },
        options);
    CHECK(result.runs.size() == 51);
    CHECK(in.candidates[result.best][1] == 0);
    CHECK_THROWS_AS(lab::search(
                        in.table.factors, in.candidates, [](std::size_t) { return std::nan(""); }, options),
                    lab::input_error);
}

TEST_CASE("search: where runs are noisy the best ones are repeated before one is named") {
    const searched in;
    lab::search_options options;
    options.budget = 60;
    options.confirm = 10;
    const auto result = in.run(options);
    CHECK(result.best_runs > 1);
    std::set<std::size_t> different;
    for (const lab::search_run& run : result.runs) different.insert(run.candidate);
    CHECK(different.size() == 50);
    options.confirm = 60;
    CHECK_THROWS_AS(in.run(options), lab::input_error);
    options.budget = 0;
    options.confirm = 0;
    CHECK_THROWS_AS(in.run(options), lab::input_error);
}

TEST_CASE("search: numbers that are near cost about the same, by their logarithms where these count") {
    std::vector<lab::factor> factors(2);
    factors[0].name = "capacity";
    factors[0].kind = lab::factor_kind::number;
    factors[0].low = 1;
    factors[0].high = 4096;
    factors[0].logarithmic = true;
    factors[1].name = "share";
    factors[1].kind = lab::factor_kind::number;
    std::vector<configuration> candidates;
    for (int power = 0; power <= 24; ++power)
        for (int share = 0; share <= 20; ++share)
            candidates.push_back({std::exp2(power / 2.0), share / 20.0});
    const auto cost_of = [&](std::size_t c) {
        return 10 + std::abs(std::log2(candidates[c][0]) - 7) + 20 * std::abs(candidates[c][1] - 0.35);
    };
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        lab::search_options options;
        options.budget = 30;  // of 525
        options.seed = seed;
        found += lab::search(factors, candidates, cost_of, options).cost < 10.51;
    }
    CHECK(found >= 9);
}

TEST_CASE("surrogate: a number is expected to cost what near ones do") {
    std::vector<lab::factor> factors(1);
    factors[0].name = "share";
    factors[0].kind = lab::factor_kind::number;
    std::vector<configuration> candidates;
    for (int share = 0; share <= 20; ++share) candidates.push_back({share / 20.0});
    lab::surrogate model(factors, candidates);
    model.learn({0, 4, 16, 20}, {1, 1.2, 4.8, 5});
    const auto expected = model.expectations({1, 10, 19});
    CHECK(std::abs(expected[0].mean - 1) < 0.5);
    CHECK(std::abs(expected[2].mean - 5) < 0.5);
    CHECK(expected[1].deviation > 1.3 * expected[0].deviation);
}
