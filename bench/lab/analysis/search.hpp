// lab analysis: finds a near-optimal configuration with few runs
#ifndef LAB_ANALYSIS_SEARCH_HPP
#define LAB_ANALYSIS_SEARCH_HPP

#include "lab/data/factor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace lab {

struct search_options {
    std::size_t budget = 50;
    std::uint64_t seed = 1;
    bool more_is_better = false;
    std::size_t confirm = 0;  // part of the budget: runs that repeat the best candidates, for noisy runs
};

struct search_run {
    std::size_t candidate = 0;
    double cost = 0;  // NaN if it failed
};

struct search_result {
    std::vector<search_run> runs;  // in the order of execution
    std::size_t best = 0;          // the candidate with the best mean of its runs
    double cost = 0;               // the mean of `best`
    std::size_t best_runs = 0;
    std::vector<std::size_t>
        alternatives;  // other candidates that were run and are within 2 %, the best first
};

// Efficient global optimisation (Jones, Schonlau & Welch, 1998): a first part of the budget for candidates far
// apart, then always the candidate with the largest expected improvement. `cost_of` runs a candidate; it returns
// NaN for a failure. No candidate is run twice before the last `confirm` runs. Throws input_error if every run
// failed.
search_result search(const std::vector<factor>& factors, const std::vector<configuration>& candidates,
                     const std::function<double(std::size_t)>& cost_of, const search_options& options);

}  // namespace lab

#endif
