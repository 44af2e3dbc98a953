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
    Eigen::MatrixXd values;             // one row a run
    Eigen::VectorXd response;           // the cost, or its logarithm (base 2)
    // Runs of one group share their luck: of one plot, or of one configuration. Numbered from 0.
    std::vector<std::size_t> groups;
    std::size_t num_groups = 0;
    std::vector<std::size_t> configurations;  // of each run, numbered from 0
    std::size_t num_configurations = 0;
};

// A level counts 0 or 1, a number from 0 (its lowest) to 1 (its highest), its bend 0 at both and 1 in the middle, time
// from 0 (the first run) to 1 (the last).
// Throws input_error for a logarithm of what isn't positive, and for time terms without times.
model_matrix model_of(const run_table& table, const fit_options& options);

class normal_equations;
// Of a column that was left out: "never on together", or what it equals.
aliased_term alias_of(const model_matrix& model, const normal_equations& equations, Eigen::Index column);
// All of them.
std::vector<aliased_term> aliases_of(const model_matrix& model);

}  // namespace lab

#endif
