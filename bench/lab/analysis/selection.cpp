// lab analysis: forward selection, by orthogonalisation
#include "lab/analysis/selection.hpp"

#include "lab/stats/distributions.hpp"

#include <algorithm>

namespace lab {

std::vector<Eigen::Index> selected_columns(const model_matrix& model) {
    constexpr double nothing = 1e-10;     // of a column's length squared
    Eigen::MatrixXd rest = model.values;  // of each column what those that are selected don't explain
    const Eigen::VectorXd lengths = rest.colwise().squaredNorm();
    Eigen::VectorXd response = model.response;
    double left = static_cast<double>(model.num_configurations);
    std::vector<Eigen::Index> selected;
    std::vector<Eigen::Index> candidates;
    const auto take = [&](Eigen::Index c) {
        selected.push_back(c);
        const Eigen::VectorXd direction = rest.col(c).normalized();
        response -= direction * direction.dot(response);
        rest -= direction * (direction.transpose() * rest);
        --left;
    };
    for (Eigen::Index c = 0; c < rest.cols(); ++c) {
        if (model.columns[static_cast<std::size_t>(c)].treatments.size() == 2) {
            candidates.push_back(c);
        } else if (rest.col(c).squaredNorm() > nothing * lengths(c)) {
            take(c);
        } else {
            selected.push_back(c);  // aliased, and named later
        }
    }
    while (left > 2 && !candidates.empty()) {
        const auto gain = [&](Eigen::Index c) {
            const double length = rest.col(c).squaredNorm();
            const double product = rest.col(c).dot(response);
            return length > nothing * lengths(c) ? product * product / length : 0;
        };
        const auto best = std::max_element(candidates.begin(), candidates.end(),
                                           [&](Eigen::Index a, Eigen::Index b) { return gain(a) < gain(b); });
        const double explained = gain(*best);
        const double unexplained = response.squaredNorm() - explained;
        const double f = explained / (unexplained / (left - 1));
        const double chance = 1 - f_probability(f, 1, left - 1);
        if (!(chance * static_cast<double>(candidates.size()) < 0.05)) break;
        take(*best);
        candidates.erase(best);
    }
    std::sort(selected.begin(), selected.end());
    return selected;
}

}  // namespace lab
