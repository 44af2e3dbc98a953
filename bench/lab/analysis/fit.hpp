// lab analysis: a linear model of the cost: the effect of each treatment, with and without pairs
#ifndef LAB_ANALYSIS_FIT_HPP
#define LAB_ANALYSIS_FIT_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

struct fit_options {
    bool pairs = false;      // with all products of two treatments
    bool log_scale = false;  // of the logarithm (base 2) of the cost: effects that multiply
    bool bends = false;      // with what the middle of each number adds to the line between its ends
    bool with_time = false;  // with a drift, and the time of day as a sine and a cosine (P21)
    double confidence = 0.95;
    std::uint64_t seed = 1;  // of the parts of the cross-validation
};

struct fitted_term {
    std::string name;  // "(intercept)", "a", "a*b", "qcap" (from its lowest to its highest)
    std::vector<std::string> treatments;  // none, one, or two
    std::vector<std::size_t> factors;     // their places in run_table::factors
    double estimate = 0;                  // in units of the cost, or of log2
    double shrunk = 0;  // of a pair: the best prediction (shrinkage.hpp); pairs are ranked by it
    double error = 0;   // its standard error
    double low = 0;
    double high = 0;
    double freedom = 0;
    double p = 1;
    double q = 1;  // the least false-discovery rate at which it counts (Benjamini & Hochberg, 1995)
};

struct aliased_term {
    std::string name;
    std::string why;  // "never on together", "= a - b": no data of this table tell them apart
};

struct outlier {
    std::size_t run = 0;    // its place in run_table::runs
    double deviations = 0;  // its residual, in standard deviations
};

struct fit_result {
    std::vector<fitted_term> terms;  // the intercept, the treatments, time, the pairs
    std::vector<aliased_term> aliased;
    bool shrunk = false;  // estimates and intervals are the best predictions
    double r2 = 0;
    double adjusted_r2 = 0;
    double sigma = 0;        // of a run
    double group_sigma = 0;  // of what runs of one group have in common
    double cross_validated_error =
        0;  // root mean square, of configurations that the model hasn't seen; of the cost
    double freedom = 0;
    std::size_t num_runs = 0;
    std::size_t num_configurations = 0;
    std::size_t num_groups = 0;
    bool grouped_by_plot = false;
    bool log_scale = false;
    std::vector<double> predicted;  // of each run, in units of the cost
    std::vector<outlier> outliers;  // more than 4 deviations away
    std::vector<std::string> notes;

    [[nodiscard]] const fitted_term* find(const std::string& name) const;
};

// Least squares; where runs are repeated or grouped into plots with two error terms (grouped_fit.hpp). Where there are
// fewer than 1.5 configurations a term, pairs are predicted as draws from one distribution (shrinkage.hpp).
// Throws input_error if nothing can be estimated, or a logarithm of what isn't positive is asked for.
fit_result fit(const run_table& table, const fit_options& options);

// How many runs of each group tell most for their time, if a new group costs as much as `cost_of_group` of them (Kalibera &
// Jones, "Rigorous benchmarking in reasonable time", 2013). NaN where the luck of groups doesn't show.
double runs_of_each_group(const fit_result& fitted, double cost_of_group);

}  // namespace lab

#endif
