// lab analysis: paths from slow to fast: one treatment after the other, and what each saves
#ifndef LAB_ANALYSIS_PATHS_HPP
#define LAB_ANALYSIS_PATHS_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct path_step {
    std::size_t factor = 0;
    double value = 0;  // the new value; before, the factor was at its base
    std::string treatment;
    double before = 0;
    double after = 0;
    configuration values;  // the configuration after the step
};

// A path from the base through measured configurations.
struct path {
    std::string name;  // "greedy", "nicest first", "reversed"
    configuration
        from;  // the base; if it was not measured, the measured configuration with the fewest treatments
    double start = 0;
    std::vector<path_step> steps;
    [[nodiscard]] double end() const { return steps.empty() ? start : steps.back().after; }
};

// At each step the measured treatment that helps most, until none helps (P18).
path greedy_path(const run_table& table);
// The treatments of `to`, tier by tier (factor::tier), within a tier the one that helps most first (P19). A step
// that was not measured is joined with the next one; its treatment is then "a + b".
path nicest_path(const run_table& table, const path& to);
// The treatments of `to`, at each step the one that helps least.
path reversed_path(const run_table& table, const path& to);

// The value of each treatment of a path, independent of the order: Shapley's value (1953) over all chains of
// measured configurations between the ends of the path. The values sum to end - start. If some chains contain
// configurations that were not measured, `complete` is false, and only measured chains count; without any there are
// no values.
struct shapley_value {
    std::size_t factor = 0;
    double value = 0;
    std::string treatment;
    double worth = 0;
};
struct attribution {
    std::vector<shapley_value> values;  // the largest saving first
    double num_chains = 0;
    bool complete = true;
};
attribution shapley_values(const run_table& table, const path& of);

// The measured configuration with the best mean of its runs.
struct best_measured {
    configuration values;
    double cost = 0;
    std::size_t num_runs = 0;
};
best_measured best_of(const run_table& table);

}  // namespace lab

#endif
