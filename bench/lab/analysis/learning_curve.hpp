// lab analysis: the number of runs that would have been enough
#ifndef LAB_ANALYSIS_LEARNING_CURVE_HPP
#define LAB_ANALYSIS_LEARNING_CURVE_HPP

#include "lab/analysis/fit.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct curve_point {
    std::size_t runs = 0;           // the first ones
    std::vector<double> estimates;  // of the terms; NaN where they tell nothing of one yet
};

struct learning_curve {
    bool by_lot = false;             // the data don't say in which order the runs were made: it is by lot
    std::vector<std::string> terms;  // the treatments
    std::vector<curve_point> points;
    // From so many runs on no estimate left the interval that all runs give it; 0 if the last point alone is so.
    std::size_t enough = 0;
};

// Of the model without pairs, at numbers of runs half as large again each time.
learning_curve learning_curve_of(const run_table& table, fit_options options);

}  // namespace lab

#endif
