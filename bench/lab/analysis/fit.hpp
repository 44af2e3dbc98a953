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
    bool log_scale = false;  // fits the logarithm (base 2) of the cost, for effects that multiply
    bool bends =
        false;  // with a bend for each number: the deviation of its middle from the line between its ends
    bool with_time = false;  // with a drift, and the time of day as a sine and a cosine (P21)
    double confidence = 0.95;
    std::uint64_t seed = 1;  // for the parts of the cross-validation
};

struct fitted_term {
    std::string name;  // "(intercept)", "a", "a*b", "qcap" (from its lowest to its highest)
    std::vector<std::string> treatments;  // none, one, or two
    std::vector<std::size_t> factors;     // their places in run_table::factors
    double estimate = 0;                  // in units of the cost, or of log2
    double shrunk = 0;  // for a pair, the best prediction (shrinkage.hpp), which ranks pairs
    double error = 0;   // its standard error
    double low = 0;
    double high = 0;
    double freedom = 0;
    double p = 1;
    double q =
        1;  // the smallest false-discovery rate at which the term is significant (Benjamini & Hochberg, 1995)
};

struct aliased_term {
    std::string name;
    std::string why;  // "never on together", "= a - b": the table does not distinguish them
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
    double sigma = 0;        // standard deviation of a run
    double group_sigma = 0;  // standard deviation of the common part of runs of one group
    double cross_validated_error =
        0;  // root mean square error of the cost, for configurations that the model was not fitted to
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

// Least squares; with two error terms if runs are repeated or grouped into plots (grouped_fit.hpp). With fewer than 1.5
// configurations per term, pairs are predicted as draws from one distribution (shrinkage.hpp). Throws input_error if
// nothing can be estimated, or for a logarithm of a cost that is not positive.
fit_result fit(const run_table& table, const fit_options& options);

// The number of runs per group that gives most information for its time, if a new group costs as much as
// `cost_of_group` runs (Kalibera & Jones, "Rigorous benchmarking in reasonable time", 2013). NaN if groups do not
// differ.
double runs_of_each_group(const fit_result& fitted, double cost_of_group);

}  // namespace lab

#endif
