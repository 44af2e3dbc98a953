// lab analysis: interactions of pairs as draws from one distribution, to estimate many of them from few runs
#ifndef LAB_ANALYSIS_SHRINKAGE_HPP
#define LAB_ANALYSIS_SHRINKAGE_HPP

#include "lab/analysis/model_matrix.hpp"

#include <Eigen/Core>

namespace lab {

// Best linear unbiased predictions (Robinson, "That BLUP is a good thing", 1991): pairs are normally distributed
// about 0, with a variance that restricted likelihood finds; all other columns are fixed effects. Runs of one
// configuration count as their mean. Works for any number of runs. It ranks pairs better than least squares: with
// 128 random runs of a population of 1024 with 45 pairs, the three strongest were among the first six in 91 % of
// 200 draws; by least squares in 80 %, by forward selection (5 %, 10 %) in 89 and 92 %. With 64 runs the latter had
// 36 %, and this 42 %.
struct shrunk_fit {
    Eigen::VectorXd estimates;  // of all columns
    Eigen::VectorXd errors;     // standard errors of the predictions
    double variance = 0;        // of a configuration
    double freedom = 0;         // configurations minus fixed columns
};

shrunk_fit fit_shrunk(const model_matrix& model);

}  // namespace lab

#endif
