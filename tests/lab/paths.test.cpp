#include "lab/analysis/paths.hpp"

#include "lab/tables.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <numeric>

namespace {

using lab::configuration;

double sum_of(const lab::attribution& a) {
    return std::accumulate(a.values.begin(), a.values.end(), 0.0,
                           [](double sum, const lab::shapley_value& v) { return sum + v.worth; });
}

// Two ways to save the same: whichever is applied first saves the most.
lab::run_table either_or() {
    auto table = lab_tests::factorial(4, [](const configuration& v) {
        const double logs = v[0] == 1 || v[1] == 1 ? 0 : 800;
        return 100 + logs - 20 * v[0] - 30 * v[2] + 7 * v[3];
    });
    table.factors[0].tier = 3;
    table.factors[1].tier = 4;
    table.factors[2].tier = 1;
    return table;
}

}  // namespace

TEST_CASE("paths: the greedy one takes what helps most until nothing helps") {
    const lab::path path = lab::greedy_path(either_or());
    REQUIRE(path.steps.size() == 2);
    CHECK(path.start == 900);
    CHECK(path.steps[0].treatment == "a");
    CHECK(path.steps[0].after == 80);
    CHECK(path.steps[1].treatment == "c");
    CHECK(path.end() == 50);
    CHECK(path.steps[1].values == configuration{1, 0, 1, 0});
}

TEST_CASE("paths: greedy isn't optimal, and the best measured configuration is told beside it") {
    const auto table = lab_tests::factorial(3, [](const configuration& v) {
        return 100 - 10 * v[0] - (v[1] == 1 && v[2] == 1 ? 40 : -5 * (v[1] + v[2])) + 30 * v[0] * v[1] * v[2];
    });
    CHECK(lab::greedy_path(table).end() == 90);
    CHECK(lab::best_of(table).cost == 60);
    CHECK(lab::best_of(table).values == configuration{0, 1, 1});
}

TEST_CASE("paths: of a rate more is better") {
    auto table = lab_tests::factorial(2, [](const configuration& v) { return 10 + 5 * v[0] - v[1]; });
    table.more_is_better = true;
    const lab::path path = lab::greedy_path(table);
    REQUIRE(path.steps.size() == 1);
    CHECK(path.end() == 15);
    CHECK(lab::best_of(table).cost == 15);
}

TEST_CASE("paths: the nicest treatments come first, and both ends are the same") {
    const auto table = either_or();
    const lab::path greedy = lab::greedy_path(table);
    const lab::path nice = lab::nicest_path(table, greedy);
    REQUIRE(nice.steps.size() == 2);
    CHECK(nice.steps[0].treatment == "c");
    CHECK(nice.steps[1].treatment == "a");
    CHECK(nice.start == greedy.start);
    CHECK(nice.end() == greedy.end());
    CHECK(lab::reversed_path(table, greedy).steps[0].treatment == "c");
}

TEST_CASE("paths: treatments between which nothing was measured are taken together") {
    auto table = either_or();
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values == configuration{0, 0, 1, 0}; });
    const lab::path nice = lab::nicest_path(table, lab::greedy_path(table));
    REQUIRE(nice.steps.size() == 2);
    CHECK(nice.steps[0].treatment == "a");  // c alone wasn't measured
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values == configuration{1, 0, 0, 0}; });
    lab::path to = lab::greedy_path(either_or());
    const lab::path together = lab::nicest_path(table, to);
    REQUIRE(together.steps.size() == 1);
    CHECK(together.steps[0].treatment == "a + c");
    CHECK(together.end() == to.end());
    CHECK_FALSE(lab::shapley_values(table, to).complete);
    CHECK(lab::shapley_values(table, to).values.empty());
}

TEST_CASE("paths: without a measured base they begin where the fewest treatments are") {
    auto table = either_or();
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values == configuration{0, 0, 0, 0}; });
    const lab::path path = lab::greedy_path(table);
    CHECK(std::accumulate(path.from.begin(), path.from.end(), 0.0) == 1);
}

TEST_CASE("paths: a path's steps add up, in time as in rate, and so do Shapley's values") {
    const auto table = lab_tests::factorial(6, [](const configuration& v) {
        return 50 + 40 * lab_tests::scattered(v) - 4 * (v[0] + v[1] + v[2] + v[3] + v[4] + v[5]);
    });
    const lab::path path = lab::greedy_path(table);
    REQUIRE(path.steps.size() > 2);
    double time = path.start;
    double rate = 1 / path.start;
    for (const lab::path_step& step : path.steps) {
        CHECK(std::abs(step.before - time) < 1e-9);
        time += step.after - step.before;
        rate += 1 / step.after - 1 / step.before;
        CHECK(std::abs(1 / time - rate) < 1e-9);
    }
    CHECK(std::abs(time - path.end()) < 1e-9);
    const lab::attribution shapley = lab::shapley_values(table, path);
    CHECK(shapley.complete);
    CHECK(std::abs(sum_of(shapley) - (path.end() - path.start)) < 1e-9);
}

TEST_CASE("paths: Shapley's values don't prefer who was first") {
    const auto table =
        lab_tests::factorial(2, [](const configuration& v) { return v[0] + v[1] > 0 ? 10 : 90; });
    lab::path to;
    to.from = {0, 0};
    to.start = 90;
    to.steps.push_back({0, 1, "a", 90, 10, {1, 0}});
    to.steps.push_back({1, 1, "b", 10, 10, {1, 1}});
    const lab::attribution shapley = lab::shapley_values(table, to);
    REQUIRE(shapley.values.size() == 2);
    CHECK(shapley.num_chains == 2);
    CHECK(shapley.values[0].worth == -40);
    CHECK(shapley.values[1].worth == -40);
}
