// indicators advice: ranks measured configurations, and gives the reasons for the first one
#ifndef INDICATORS_ADVICE_ADVICE_HPP
#define INDICATORS_ADVICE_ADVICE_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace indicators {

struct advice_options {
    std::size_t least_runs = 2;  // of a configuration, to be recommended
    double confidence = 0.95;
};

struct ranked_configuration {
    lab::configuration values;
    std::vector<std::size_t> runs;  // places in run_table::runs
    double mean = 0;
    // Of its mean, by what its runs and those of all configurations vary by (spreads.hpp), relative to the means
    // where all costs are positive. NaN where nothing was repeated.
    double low = 0;
    double high = 0;
    double to_best = 1;   // its mean by that of the first
    std::string verdict;  // "best", "as good", "worse", "unsure", "too few runs"
};

// What one setting of the best configuration does.
struct reason {
    std::size_t factor = 0;
    std::string setting;  // "cfg_fuse=on"
    // On the average of all runs, against the factor's base: factors on the cost, by a model of main effects
    // (lab/fit). NaN where the runs can't tell.
    double average = 0;
    double low = 0;
    double high = 0;
    // The configuration that differs from the best in this factor alone; the best one of them if there are more.
    bool has_neighbour = false;
    std::string neighbour;  // "cfg_fuse=off"
    double neighbour_to_best = 0;
    std::size_t neighbour_runs = 0;
};

struct advice {
    std::vector<ranked_configuration> ranked;  // the best first
    bool enough = false;
    std::string not_enough;  // why there is not enough data
    double low_as_best = 0;  // of the best's mean: wide enough for its having been picked as the best
    double high_as_best = 0;
    std::vector<reason> why;
};

// In the order of what can be counted on: the worse ends of their intervals. Where all were run equally often, and vary
// alike, that is the order of their means, in which lab::search names its best.
advice advise(const lab::run_table& table, const advice_options& options);

}  // namespace indicators

#endif
