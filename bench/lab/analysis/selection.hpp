// lab analysis: which pairs are in a model that has too few runs for all
#ifndef LAB_ANALYSIS_SELECTION_HPP
#define LAB_ANALYSIS_SELECTION_HPP

#include "lab/analysis/model_matrix.hpp"

#include <Eigen/Core>

#include <vector>

namespace lab {

// All columns but pairs, and of the pairs, one after the other, the one that explains most of what is left, while that
// is more than chance explains in the best of as many (Bonferroni, 5 %). In the order of the columns.
std::vector<Eigen::Index> selected_columns(const model_matrix& model);

}  // namespace lab

#endif
