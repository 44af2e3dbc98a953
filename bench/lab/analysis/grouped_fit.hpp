// lab analysis: least squares for runs in correlated groups: two error terms
#ifndef LAB_ANALYSIS_GROUPED_FIT_HPP
#define LAB_ANALYSIS_GROUPED_FIT_HPP

#include "lab/analysis/model_matrix.hpp"
#include "lab/analysis/normal_equations.hpp"

#include <Eigen/Core>

#include <memory>

namespace lab {

// The fit of a model with an error for each run and one for each group, by restricted maximum likelihood (Patterson
// & Thompson, "Recovery of inter-block information", 1971) and Satterthwaite's degrees of freedom (1946). A column
// that is constant within each group has at most the degrees of freedom of the groups. With one run per group this
// is ordinary least squares.
struct grouped_fit {
    Eigen::VectorXd estimates;  // 0 for columns left out
    Eigen::VectorXd errors;     // their standard errors
    Eigen::VectorXd freedom;
    Eigen::VectorXd residuals;  // of each run
    double run_variance = 0;
    double group_variance = 0;
    double freedom_left = 0;  // runs minus columns
    std::vector<Eigen::Index> left_out;
    std::shared_ptr<const normal_equations> equations;  // from the products of the columns
    std::shared_ptr<const Eigen::MatrixXd> gram;
};

grouped_fit fit_grouped(const model_matrix& model);

}  // namespace lab

#endif
