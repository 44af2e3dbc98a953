// lab analysis: the change by one treatment t, for every pair of runs X and X + {t}
#ifndef LAB_ANALYSIS_DELTAS_HPP
#define LAB_ANALYSIS_DELTAS_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// How repeated runs of one configuration are paired: each with each, as the article has it; by their means; or each run
// of X + {t} with the run of X that is nearest to it in time.
enum class pairing { all, mean, nearest };

struct delta {
    std::size_t factor = 0;
    double value = 0;    // what the factor was changed to, from its base
    configuration with;  // X: the factor itself at its base
    double before = 0;
    double after = 0;
    std::vector<std::size_t> runs_before;  // places in run_table::runs
    std::vector<std::size_t> runs_after;
    [[nodiscard]] double change() const { return after - before; }
};

// In the order of the factors, of their values, and of the runs. A complete two-level table of k factors gives
// k * 2^(k - 1) of them.
std::vector<delta> deltas_of(const run_table& table, pairing how);

struct mean_delta {
    std::size_t factor = 0;
    double value = 0;
    std::string treatment;
    std::size_t num_deltas = 0;
    std::size_t num_runs = 0;  // different runs that they are made of
    double mean = 0;
    // 95 %. Deltas of one X share runs: they are one observation of the treatment (cluster-robust). Of a single X: what
    // its runs vary by (Welch, 1947). NaN where there is too little to say.
    double low = 0;
    double high = 0;
    double mean_log2 = 0;  // of after / before; NaN where a cost isn't positive
};

// One for each treatment, the most saving first (of a rate: the most gaining).
std::vector<mean_delta> mean_deltas(const run_table& table, const std::vector<delta>& deltas);

// Where a treatment that helps at one end hurts at the other (P13): the line after = a + b * before by least squares,
// and where it crosses after = before; `at` is NaN where it doesn't within what was measured, or where the change
// depends no more on the mean of before and after than chance allows. That is asked of the mean, not of `before`: what
// was measured too slow by chance is followed by something faster (Bland & Altman, 1986).
struct crossing {
    double intercept = 0;
    double slope = 1;
    double at = 0;
};
crossing crossing_of(const std::vector<delta>& deltas, std::size_t factor, double value);

// Which other treatment best explains why the deltas of one differ (P14), the best first: the share of their variance
// that is between those with it and those without it, and both means.
struct split {
    std::size_t factor = 0;
    double value = 0;
    std::string treatment;
    double explained = 0;
    double mean_without = 0;
    double mean_with = 0;
    std::size_t num_without = 0;
    std::size_t num_with = 0;
};
std::vector<split> splits_of(const run_table& table, const std::vector<delta>& deltas, std::size_t factor,
                             double value);

}  // namespace lab

#endif
