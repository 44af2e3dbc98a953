// lab analysis: the error of a model for configurations that it was not fitted to
#ifndef LAB_ANALYSIS_CROSS_VALIDATION_HPP
#define LAB_ANALYSIS_CROSS_VALIDATION_HPP

#include "lab/analysis/model_matrix.hpp"

#include <Eigen/Core>

#include <cstdint>

namespace lab {

// What a logarithmic model's prediction is multiplied by to be one of the mean: "smearing" (Duan, 1983).
double smearing(const Eigen::VectorXd& residuals);

// Root mean square in units of the cost, each configuration predicted by a model of the nine tenths that it isn't in.
// `gram`: the products of the model's columns, for least squares, which costs about one more fit; null for the best
// predictions (shrinkage.hpp), which cost ten.
double cross_validated_error(const model_matrix& model, const Eigen::MatrixXd* gram, const run_table& table,
                             bool log_scale, std::uint64_t seed);

}  // namespace lab

#endif
