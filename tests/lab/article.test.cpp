// The figures of "Plotting Parsl Performance Interactions with R" (B. Clifford, 2024), out of article/runs.csv.
#include "lab/analysis/deltas.hpp"
#include "lab/analysis/fit.hpp"
#include "lab/analysis/paths.hpp"
#include "lab/analysis/sequences.hpp"
#include "lab/data/rate.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <numeric>

namespace {

const lab::run_table& article() {
    static const lab::run_table table = [] {
        lab::read_options options;
        options.file = LAB_TESTS "/article/runs.csv";
        options.cost = "time_per_task_us";
        return lab::read_runs(options);
    }();
    return table;
}

double estimate(const lab::fit_result& fit, const std::string& name) {
    const lab::fitted_term* term = fit.find(name);
    REQUIRE(term != nullptr);
    return term->estimate;
}

}  // namespace

TEST_CASE("the article: 1182 us untreated, 240 us after the first factor, 61 us at the end") {
    const lab::path path = lab::greedy_path(article());
    REQUIRE(path.steps.size() == 5);
    CHECK(path.start == 1182);
    CHECK(path.steps[0].treatment == "cfg_no_init_logging");
    CHECK(std::abs(path.steps[0].after - 240) < 1e-6);
    CHECK(std::abs(path.end() - 61) < 1e-6);
    CHECK(std::abs(path.steps[0].after - path.end() - 179) < 1e-6);
    const double rate = lab::rate_of(article().cost_name).scale;
    CHECK(std::floor(rate / path.steps[0].after) == 4166);
    CHECK(std::floor(rate / path.end()) == 16393);
}

TEST_CASE(
    "the article: with all pairs the two logs save 577.1 and 490.7 us, and both together 358.0 us less than "
    "that") {
    lab::fit_options options;
    options.pairs = true;
    const lab::fit_result fit = lab::fit(article(), options);
    const double no_log = estimate(fit, "cfg_no_init_logging");
    const double no_lines = estimate(fit, "src_submit_biglogs_remove");
    const double both = estimate(fit, "cfg_no_init_logging*src_submit_biglogs_remove");
    CHECK(std::abs(no_log + 577.1) < 1e-6);
    CHECK(std::abs(no_lines + 490.7) < 1e-6);
    CHECK(std::abs(both - 358.0) < 1e-6);
    CHECK(std::abs(no_log + no_lines + both + 709.8) < 1e-6);
}

TEST_CASE("the article: on a full factorial mean deltas are the linear model's coefficients") {
    const lab::fit_result fit = lab::fit(article(), {});
    const auto deltas = lab::deltas_of(article(), lab::pairing::all);
    CHECK(deltas.size() == 7 * 64);
    for (const lab::mean_delta& mean : lab::mean_deltas(article(), deltas))
        CHECK(std::abs(estimate(fit, mean.treatment) - mean.mean) < 1e-9);
}

TEST_CASE("the article: how two groups of deltas differ is the pair's effect") {
    lab::fit_options options;
    options.pairs = true;
    const lab::fit_result fit = lab::fit(article(), options);
    const auto deltas = lab::deltas_of(article(), lab::pairing::all);
    for (std::size_t f = 0; f < article().factors.size(); ++f) {
        for (const lab::split& s : lab::splits_of(article(), deltas, f, 1)) {
            const std::string first = article().factors[std::min(f, s.factor)].name;
            const std::string second = article().factors[std::max(f, s.factor)].name;
            CHECK(std::abs(estimate(fit, first + "*" + second) - (s.mean_with - s.mean_without)) < 1e-9);
        }
    }
    CHECK(lab::splits_of(article(), deltas, 0, 1)[0].treatment == "src_submit_biglogs_remove");
}

TEST_CASE("the article: affinity helps what is slow and hurts what is fast") {
    const auto deltas = lab::deltas_of(article(), lab::pairing::all);
    const lab::crossing affinity = lab::crossing_of(deltas, article().factor_of("affinity"), 1);
    CHECK(affinity.slope < 1);
    CHECK(affinity.at > 61);
    CHECK(affinity.at < 1182);
}

TEST_CASE("the article: the first component is either not to log, or not to have log lines") {
    const auto sequences = lab::sequences_of(article(), 550, 1);
    CHECK(sequences.changes.size() == 550);
    const auto components = lab::components_of(sequences);
    CHECK(components.shares[0] > 0.5);
    CHECK(components.loadings[0][0] > 0.5);
    CHECK(components.loadings[0][1] < -0.5);
    CHECK(std::abs(components.shares.back()) < 1e-9);
}

TEST_CASE("the article: without the treatments of logs less than a third of the runs is left") {
    lab::read_options options;
    options.file = LAB_TESTS "/article/runs.csv";
    options.cost = "time_per_task_us";
    options.without = {"cfg_no_init_logging", "src_submit_biglogs_remove"};
    const lab::run_table logged = lab::read_runs(options);
    CHECK(logged.runs.size() == 32);
    CHECK(logged.factors.size() == 5);
    const auto means = lab::mean_deltas(logged, lab::deltas_of(logged, lab::pairing::all));
    CHECK(means[0].treatment == "python313t_nogil_jit");
    CHECK(means[0].mean < -150);  // more than with the logs' treatments among the runs
}
