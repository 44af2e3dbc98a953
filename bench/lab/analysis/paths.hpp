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
    double value = 0;  // from the base
    std::string treatment;
    double before = 0;
    double after = 0;
    configuration values;  // after it
};

// From the base on, through configurations that were measured.
struct path {
    std::string name;  // "greedy", "nicest first", "reversed"
    configuration
        from;  // the base; if that wasn't measured, the measured configuration with the fewest treatments
    double start = 0;
    std::vector<path_step> steps;
    [[nodiscard]] double end() const { return steps.empty() ? start : steps.back().after; }
};

// At each step the measured treatment that helps most, until none helps (P18).
path greedy_path(const run_table& table);
// The treatments of `to`, in tiers of niceness (factor::tier), within a tier the one that helps most (P19). Steps
// that were not measured are taken together with the next one: a step's treatment is then "a + b".
path nicest_path(const run_table& table, const path& to);
// The treatments of `to` in the order in which each helps least.
path reversed_path(const run_table& table, const path& to);

// What each treatment of a path is worth, whatever the order: Shapley's value (1953) over all chains of measured
// configurations between the path's ends; they sum up to end - start. Not `complete` where some chains lead through
// configurations that were not measured: the values are then of the measured chains, and there are none if no chain is.
struct shapley_value {
    std::size_t factor = 0;
    double value = 0;
    std::string treatment;
    double worth = 0;
};
struct attribution {
    std::vector<shapley_value> values;  // the most saving first
    double num_chains = 0;
    bool complete = true;
};
attribution shapley_values(const run_table& table, const path& of);

// The best configuration that was measured, by the mean of its runs.
struct best_measured {
    configuration values;
    double cost = 0;
    std::size_t num_runs = 0;
};
best_measured best_of(const run_table& table);

}  // namespace lab

#endif
