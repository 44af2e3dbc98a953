#include "lab/analysis/deltas.hpp"

#include "lab/tables.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>

namespace {

using lab::configuration;
using lab::pairing;

// Before and after, at each of `configurations` three times, with an effect of -10.
lab::run_table repeated_runs(std::size_t configurations) {
    lab::run_table table = lab_tests::factorial(3, [](const configuration& v) {
        return 100 - 10 * v[0] + 5 * v[1] * v[0] + 0.1 * lab_tests::scattered(v);
    });
    table.runs.resize(2 * configurations);
    std::vector<lab::measured_run> more;
    for (int i = 0; i < 3; ++i) {
        for (lab::measured_run run : table.runs) {
            run.time += 100 * i;
            run.cost += i;
            more.push_back(run);
        }
    }
    table.runs = more;
    return table;
}

}  // namespace

TEST_CASE("deltas: a complete table of k factors has k * 2^(k-1) of them") {
    const auto table = lab_tests::factorial(5, [](const configuration& v) { return 10 + v[0]; });
    const auto deltas = lab::deltas_of(table, pairing::all);
    CHECK(deltas.size() == 5 * 16);
    for (const lab::delta& d : deltas) {
        CHECK(d.with[d.factor] == 0);
        CHECK(d.change() == (d.factor == 0 ? 1.0 : 0.0));
    }
}

TEST_CASE("deltas: repeated runs are paired with each other, by their means, or with the nearest in time") {
    const auto table = repeated_runs(1);  // a off and on, three times each
    const auto all = lab::deltas_of(table, pairing::all);
    CHECK(all.size() == 9);
    const auto mean = lab::deltas_of(table, pairing::mean);
    REQUIRE(mean.size() == 1);
    CHECK(mean[0].runs_before.size() == 3);
    const auto nearest = lab::deltas_of(table, pairing::nearest);
    REQUIRE(nearest.size() == 3);
    for (const lab::delta& d : nearest) {
        CHECK(std::abs(table.runs[d.runs_before[0]].time - table.runs[d.runs_after[0]].time) <= 1);
        CHECK(d.change() == Catch::Approx(mean[0].change()));
    }
    for (const auto& deltas : {all, mean, nearest})
        CHECK(lab::mean_deltas(table, deltas)[0].mean == Catch::Approx(mean[0].change()));
}

TEST_CASE("deltas: nine pairs of three runs and three are no nine observations") {
    const auto table = repeated_runs(1);
    const auto means = lab::mean_deltas(table, lab::deltas_of(table, pairing::all));
    REQUIRE(means.size() == 1);
    CHECK(means[0].num_deltas == 9);
    CHECK(means[0].num_runs == 6);
    // Each side varies by 1: the difference of two means of three has the error sqrt(2/3), with 4 degrees of freedom.
    const double error = (means[0].high - means[0].mean) / 2.7764451051977987;
    CHECK(error == Catch::Approx(std::sqrt(2.0 / 3)).epsilon(1e-6));
}

TEST_CASE("deltas: over several configurations what varies is each one's mean, however often it was run") {
    // Changes of -10, -5 (twice as many deltas would not make more of it) and -3: a mean of -6 with an error of 3.6 / sqrt(3).
    auto table = lab_tests::factorial(3, [](const configuration& v) {
        return 100 + v[0] * (v[1] == 0 ? -10 : v[2] == 0 ? -5 : -3);
    });
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values[1] == 0 && run.values[2] == 1; });
    const std::vector<lab::measured_run> once = table.runs;
    for (int i = 0; i < 2; ++i) {
        const auto means = lab::mean_deltas(table, lab::deltas_of(table, pairing::all));
        CHECK(means[0].treatment == "a");
        CHECK(means[0].mean == Catch::Approx(-6));
        CHECK(means[0].high - means[0].mean ==
              Catch::Approx(4.302652729749464 * std::sqrt(13.0 / 3)).epsilon(1e-9));
        table.runs.insert(table.runs.end(), once.begin(), once.end());
    }
}

TEST_CASE("deltas: the mean of one delta has no interval") {
    const auto table = lab_tests::factorial(1, [](const configuration& v) { return 10 + v[0]; });
    const auto means = lab::mean_deltas(table, lab::deltas_of(table, pairing::all));
    REQUIRE(means.size() == 1);
    CHECK(means[0].mean == 1);
    CHECK(std::isnan(means[0].low));
    CHECK(std::isnan(means[0].high));
}

TEST_CASE("deltas: the most saving treatment comes first, and of a rate the most gaining") {
    auto table = lab_tests::factorial(3, [](const configuration& v) { return 10 - v[0] - 3 * v[1] + v[2]; });
    CHECK(lab::mean_deltas(table, lab::deltas_of(table, pairing::all))[0].treatment == "b");
    table.more_is_better = true;
    CHECK(lab::mean_deltas(table, lab::deltas_of(table, pairing::all))[0].treatment == "c");
}

TEST_CASE("deltas: levels and numbers are compared with the base alone") {
    lab::run_table table;
    table.factors.resize(2);
    table.factors[0].name = "log";
    table.factors[0].kind = lab::factor_kind::levels;
    table.factors[0].levels = {"off", "ring", "file"};
    table.factors[1].name = "qcap";
    table.factors[1].kind = lab::factor_kind::number;
    table.factors[1].base = 8;
    for (double log = 0; log < 3; ++log)
        for (const double capacity : {1, 8, 64})
            table.runs.push_back({{log, capacity}, log + capacity, 0, "", 0});
    const auto deltas = lab::deltas_of(table, pairing::all);
    CHECK(deltas.size() == 2 * 3 + 2 * 3);
    const auto means = lab::mean_deltas(table, deltas);
    REQUIRE(means.size() == 4);
    CHECK(means[0].treatment == "qcap=1");
    CHECK(means[0].mean == -7);
    CHECK(means[3].treatment == "qcap=64");
}

TEST_CASE("deltas: a treatment that helps at the slow end and hurts at the fast end has a crossing") {
    const auto table = lab_tests::factorial(5, [](const configuration& v) {
        const double without = 100 * (1 + v[1] + 2 * v[2] + 4 * v[3] + 8 * v[4]);
        return v[0] == 0 ? without : 300 + 0.5 * without;
    });
    const auto deltas = lab::deltas_of(table, pairing::all);
    const lab::crossing c = lab::crossing_of(deltas, 0, 1);
    CHECK(c.slope == Catch::Approx(0.5));
    CHECK(c.intercept == Catch::Approx(300));
    CHECK(c.at == Catch::Approx(600));
}

TEST_CASE("deltas: noise is no crossing") {
    // What is slow by chance is followed by what is faster: the slope by least squares is below 1 for nothing.
    const auto table =
        lab_tests::factorial(7, [](const configuration& v) { return lab_tests::scattered(v); });
    const auto deltas = lab::deltas_of(table, pairing::all);
    std::size_t crossings = 0;
    for (std::size_t f = 0; f < 7; ++f) {
        const lab::crossing c = lab::crossing_of(deltas, f, 1);
        CHECK(c.slope < 0.9);
        crossings += std::isnan(c.at) ? 0 : 1;
    }
    CHECK(crossings <= 1);
}

TEST_CASE("deltas: what explains the split of two treatments' deltas is their pair") {
    const auto table = lab_tests::factorial(4, [](const configuration& v) {
        return 1000 - 577 * v[0] - 490 * v[1] + 358 * v[0] * v[1] + 3 * v[2] + 5 * v[2] * v[0];
    });
    const auto deltas = lab::deltas_of(table, pairing::all);
    const auto splits = lab::splits_of(table, deltas, 0, 1);
    REQUIRE(splits.size() == 3);
    CHECK(splits[0].treatment == "b");
    CHECK(splits[0].explained > 0.99);
    CHECK(splits[0].mean_with - splits[0].mean_without == Catch::Approx(358).epsilon(1e-9));
    CHECK(splits[0].num_with == splits[0].num_without);
}
