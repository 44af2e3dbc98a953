// lab analysis: the number of runs that would have been enough
#ifndef LAB_ANALYSIS_LEARNING_CURVE_HPP
#define LAB_ANALYSIS_LEARNING_CURVE_HPP

#include "lab/analysis/fit.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct curve_point {
    std::size_t runs = 0;           // number of first runs that were used
    std::vector<double> estimates;  // of the terms; NaN if these runs do not determine a term
};

struct learning_curve {
    bool by_lot = false;             // the data have no order of runs, so a random order is used
    std::vector<std::string> terms;  // the treatments
    std::vector<curve_point> points;
    // From this number of runs on, no estimate is outside of its interval from all runs; 0 if only the last point is.
    std::size_t enough = 0;
};

// Fits the model without pairs to growing numbers of runs, each half as large again.
learning_curve learning_curve_of(const run_table& table, fit_options options);

}  // namespace lab

#endif
