// lab analysis: the columns of a linear model, made from runs
#ifndef LAB_ANALYSIS_MODEL_MATRIX_HPP
#define LAB_ANALYSIS_MODEL_MATRIX_HPP

#include "lab/analysis/fit.hpp"

#include <Eigen/Core>

#include <string>
#include <vector>

namespace lab {

struct model_column {
    std::string name;
    std::vector<std::string> treatments;
    std::vector<std::size_t> factors;
};

struct model_matrix {
    std::vector<model_column> columns;  // the intercept, the treatments, bends, time, the pairs
    Eigen::MatrixXd values;             // one row per run
    Eigen::VectorXd response;           // the cost, or its logarithm (base 2)
    // The group of each run, numbered from 0: runs of one plot, or of one configuration, are correlated.
    std::vector<std::size_t> groups;
    std::size_t num_groups = 0;
    std::vector<std::size_t> configurations;  // of each run, numbered from 0
    std::size_t num_configurations = 0;
};

// A level is 0 or 1; a number goes from 0 (lowest) to 1 (highest), its bend is 0 at both ends and 1 in the middle;
// time goes from 0 (first run) to 1 (last run). Throws input_error for a logarithm of a cost that is not positive,
// and for time terms without times.
model_matrix model_of(const run_table& table, const fit_options& options);

class normal_equations;
// The reason why a column was left out: "never on together", or the columns that it equals.
aliased_term alias_of(const model_matrix& model, const normal_equations& equations, Eigen::Index column);
// The reasons for all columns that were left out.
std::vector<aliased_term> aliases_of(const model_matrix& model);

}  // namespace lab

#endif
