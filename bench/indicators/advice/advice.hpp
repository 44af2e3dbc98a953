// indicators advice: ranks measured configurations, and gives the reasons for the first one
#ifndef INDICATORS_ADVICE_ADVICE_HPP
#define INDICATORS_ADVICE_ADVICE_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace indicators {

struct advice_options {
    std::size_t least_runs = 2;  // runs that a recommended configuration needs
    double confidence = 0.95;
};

struct ranked_configuration {
    lab::configuration values;
    std::vector<std::size_t> runs;  // places in run_table::runs
    double mean = 0;
    // Interval of the mean, relative to the means if all costs are positive. The variance is moderated by that
    // of all configurations (spreads.hpp). NaN if nothing was repeated.
    double low = 0;
    double high = 0;
    double to_best = 1;   // its mean divided by that of the first
    std::string verdict;  // "best", "as good", "worse", "unsure", "too few runs"
};

// The effect of one setting of the best configuration.
struct reason {
    std::size_t factor = 0;
    std::string setting;  // "cfg_fuse=on"
    // The average effect over all runs, relative to the factor's base, by a model of main effects (lab/fit).
    // NaN if the runs do not determine it.
    double average = 0;
    double low = 0;
    double high = 0;
    // The configuration that differs from the best only in this factor; if there are several, the best one of
    // them.
    bool has_neighbour = false;
    std::string neighbour;  // "cfg_fuse=off"
    double neighbour_to_best = 0;
    std::size_t neighbour_runs = 0;
};

struct advice {
    std::vector<ranked_configuration> ranked;  // the best first
    bool enough = false;
    std::string not_enough;  // the reason if there are not enough data
    double low_as_best = 0;  // interval of the best's mean, which allows for its selection
    double high_as_best = 0;
    std::vector<reason> why;
};

// Ordered by the worse ends of the intervals. If all configurations were run equally often, and vary alike,
// this is the order of their means, by which lab::search chooses its best.
advice advise(const lab::run_table& table, const advice_options& options);

}  // namespace indicators

#endif
