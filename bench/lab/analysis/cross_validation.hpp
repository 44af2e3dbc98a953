// lab analysis: the error of a model for configurations that it was not fitted to
#ifndef LAB_ANALYSIS_CROSS_VALIDATION_HPP
#define LAB_ANALYSIS_CROSS_VALIDATION_HPP

#include "lab/analysis/model_matrix.hpp"

#include <Eigen/Core>

#include <cstdint>

namespace lab {

// The factor that turns the prediction of a logarithmic model into one of the mean: "smearing" (Duan, 1983).
double smearing(const Eigen::VectorXd& residuals);

// Root mean square error in units of the cost: each configuration is predicted by a model of the nine tenths
// without it. `gram` has the products of the model's columns, for least squares, which costs about one more fit;
// null means the best predictions (shrinkage.hpp), which cost ten fits.
double cross_validated_error(const model_matrix& model, const Eigen::MatrixXd* gram, const run_table& table,
                             bool log_scale, std::uint64_t seed);

}  // namespace lab

#endif
