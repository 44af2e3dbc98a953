// lab analysis: ten-fold cross-validation
#include "lab/analysis/cross_validation.hpp"

#include "lab/analysis/normal_equations.hpp"
#include "lab/analysis/shrinkage.hpp"
#include "lab/stats/shuffle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace lab {

double smearing(const Eigen::VectorXd& residuals) {
    return residuals.unaryExpr([](double r) { return std::exp2(r); }).mean();
}

namespace {

Eigen::VectorXd least_squares_without(const model_matrix& model, const Eigen::MatrixXd& gram,
                                      const Eigen::VectorXd& products,
                                      const std::vector<Eigen::Index>& part) {
    const Eigen::MatrixXd values = model.values(part, Eigen::all);
    Eigen::MatrixXd of_part = Eigen::MatrixXd::Zero(gram.rows(), gram.cols());
    of_part.selfadjointView<Eigen::Lower>().rankUpdate(values.transpose());
    const Eigen::MatrixXd others = gram - Eigen::MatrixXd(of_part.selfadjointView<Eigen::Lower>());
    return normal_equations(others).solve(products - values.transpose() * model.response(part));
}

Eigen::VectorXd predictions_without(const model_matrix& model, const std::vector<Eigen::Index>& part) {
    model_matrix others;
    others.columns = model.columns;
    std::vector<Eigen::Index> rows;
    std::map<std::size_t, std::size_t> places;  // new numbers of configurations
    for (std::size_t i = 0; i < model.configurations.size(); ++i) {
        if (std::binary_search(part.begin(), part.end(), static_cast<Eigen::Index>(i))) continue;
        rows.push_back(static_cast<Eigen::Index>(i));
        others.configurations.push_back(
            places.try_emplace(model.configurations[i], places.size()).first->second);
    }
    others.values = model.values(rows, Eigen::all);
    others.response = model.response(rows);
    others.num_configurations = places.size();
    return fit_shrunk(others).estimates;
}

}  // namespace

double cross_validated_error(const model_matrix& model, const Eigen::MatrixXd* gram, const run_table& table,
                             bool log_scale, std::uint64_t seed) {
    const std::size_t parts = std::min<std::size_t>(10, model.num_configurations);
    if (parts < 2) return std::nan("");
    std::vector<std::size_t> order(model.num_configurations);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(seed);
    shuffle(order, random);
    std::vector<std::vector<Eigen::Index>> rows(parts);
    for (std::size_t i = 0; i < model.configurations.size(); ++i)
        rows[order[model.configurations[i]] % parts].push_back(static_cast<Eigen::Index>(i));

    const Eigen::VectorXd products = model.values.transpose() * model.response;
    double squares = 0;
    for (const std::vector<Eigen::Index>& part : rows) {
        const Eigen::MatrixXd values = model.values(part, Eigen::all);
        const Eigen::VectorXd responses = model.response(part);
        const Eigen::VectorXd estimates = gram != nullptr
                                              ? least_squares_without(model, *gram, products, part)
                                              : predictions_without(model, part);
        const Eigen::VectorXd predicted = values * estimates;
        double factor = 1;
        if (log_scale) {
            // Error over the runs that the estimates are from.
            const Eigen::VectorXd all = model.response - model.values * estimates;
            const double own = (responses - predicted).unaryExpr([](double r) { return std::exp2(r); }).sum();
            factor = (smearing(all) * static_cast<double>(all.size()) - own) /
                     static_cast<double>(all.size() - responses.size());
        }
        for (std::size_t i = 0; i < part.size(); ++i) {
            const double prediction = predicted(static_cast<Eigen::Index>(i));
            const double cost = table.runs[static_cast<std::size_t>(part[i])].cost;
            squares += std::pow(cost - (log_scale ? factor * std::exp2(prediction) : prediction), 2);
        }
    }
    return std::sqrt(squares / static_cast<double>(model.configurations.size()));
}

}  // namespace lab
