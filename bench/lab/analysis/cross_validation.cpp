// lab analysis: ten parts, each predicted by the others
#include "lab/analysis/cross_validation.hpp"

#include "lab/analysis/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace lab {

double smearing(const Eigen::VectorXd& residuals) {
    return residuals.unaryExpr([](double r) { return std::exp2(r); }).mean();
}

double cross_validated_error(const model_matrix& model, const Eigen::MatrixXd& gram, const run_table& table,
                             bool log_scale, std::uint64_t seed) {
    const std::size_t parts = std::min<std::size_t>(10, model.num_configurations);
    if (parts < 2) return std::nan("");
    std::vector<std::size_t> order(model.num_configurations);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    std::vector<std::vector<Eigen::Index>> rows(parts);
    for (std::size_t i = 0; i < model.configurations.size(); ++i)
        rows[order[model.configurations[i]] % parts].push_back(static_cast<Eigen::Index>(i));

    const Eigen::VectorXd products = model.values.transpose() * model.response;
    double squares = 0;
    for (const std::vector<Eigen::Index>& part : rows) {
        const Eigen::MatrixXd values = model.values(part, Eigen::all);
        const Eigen::VectorXd responses = model.response(part);
        Eigen::MatrixXd of_part = Eigen::MatrixXd::Zero(gram.rows(), gram.cols());
        of_part.selfadjointView<Eigen::Lower>().rankUpdate(values.transpose());
        const Eigen::MatrixXd others = gram - Eigen::MatrixXd(of_part.selfadjointView<Eigen::Lower>());
        const normal_equations equations(others);
        const Eigen::VectorXd estimates = equations.solve(products - values.transpose() * responses);
        const Eigen::VectorXd predicted = values * estimates;
        double factor = 1;
        if (log_scale) {
            // Of the runs that the estimates are from.
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
