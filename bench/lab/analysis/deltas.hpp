// lab analysis: the change by one treatment t, for every pair of runs X and X + {t}
#ifndef LAB_ANALYSIS_DELTAS_HPP
#define LAB_ANALYSIS_DELTAS_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// The pairing of repeated runs of one configuration: each with each, as in the article; by their means; or each run of
// X + {t} with the run of X that is nearest in time.
enum class pairing { all, mean, nearest };

struct delta {
    std::size_t factor = 0;
    double value = 0;    // the new value of the factor; before, it was at its base
    configuration with;  // X, with the factor at its base
    double before = 0;
    double after = 0;
    std::vector<std::size_t> runs_before;  // places in run_table::runs
    std::vector<std::size_t> runs_after;
    [[nodiscard]] double change() const { return after - before; }
};

// In the order of the factors, of their values, and of the runs. A complete two-level table of k factors gives
// k * 2^(k - 1) deltas.
std::vector<delta> deltas_of(const run_table& table, pairing how);

struct mean_delta {
    std::size_t factor = 0;
    double value = 0;
    std::string treatment;
    std::size_t num_deltas = 0;
    std::size_t num_runs = 0;  // different runs in these deltas
    double mean = 0;
    // Interval of 95 %. Deltas of one X share runs, so they count as one observation (cluster-robust). With a
    // single X, the variance of its runs is used (Welch, 1947). NaN if there are too few data.
    double low = 0;
    double high = 0;
    double mean_log2 = 0;  // of after / before; NaN if a cost is not positive
};

// One for each treatment, the largest saving first (for a rate: the largest gain).
std::vector<mean_delta> mean_deltas(const run_table& table, const std::vector<delta>& deltas);

// The point where a treatment changes from help to harm (P13): the line after = a + b * before by least squares,
// and its crossing with after = before. `at` is NaN if the crossing is outside of the measured range, or if the
// change does not significantly depend on the mean of before and after. The mean is used instead of `before`,
// because a value that is too slow by chance is followed by a faster one (Bland & Altman, 1986).
struct crossing {
    double intercept = 0;
    double slope = 1;
    double at = 0;
};
crossing crossing_of(const std::vector<delta>& deltas, std::size_t factor, double value);

// The other treatments that explain why the deltas of one treatment differ (P14), the best first: the share of the
// variance between deltas with and without the other treatment, and both means.
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
