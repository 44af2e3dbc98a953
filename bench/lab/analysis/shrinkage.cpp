// lab analysis: the best linear unbiased predictions of pairs, in the eigenvectors of their products
#include "lab/analysis/shrinkage.hpp"

#include "lab/analysis/normal_equations.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab {

namespace {

struct means {
    Eigen::MatrixXd values;
    Eigen::VectorXd response;
};
means means_of(const model_matrix& model) {
    const auto n = static_cast<Eigen::Index>(model.num_configurations);
    means result{Eigen::MatrixXd::Zero(n, model.values.cols()), Eigen::VectorXd::Zero(n)};
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(n);
    for (std::size_t i = 0; i < model.configurations.size(); ++i) {
        const auto c = static_cast<Eigen::Index>(model.configurations[i]);
        result.values.row(c) += model.values.row(static_cast<Eigen::Index>(i));
        result.response(c) += model.response(static_cast<Eigen::Index>(i));
        ++counts(c);
    }
    result.values.array().colwise() /= counts.array();
    result.response.array() /= counts.array();
    return result;
}

// The ratio of the pairs' variance to a configuration's, and the latter: the best of a logarithmic grid, which
// is fine enough because the likelihood is flat.
struct two_variances {
    double ratio = 0;
    double variance = 0;
};
two_variances variances_of(const Eigen::VectorXd& squares, const Eigen::VectorXd& eigenvalues, double rest,
                           double freedom) {
    two_variances best;
    double most = -std::numeric_limits<double>::infinity();
    for (int step = -1; step <= 120; ++step) {
        const double ratio = step < 0 ? 0 : std::exp(-12 + 0.15 * step);
        const Eigen::ArrayXd more = 1 + ratio * eigenvalues.array();
        const double variance = std::max((rest + (squares.array() / more).sum()) / freedom, 1e-300);
        const double likelihood = -0.5 * (freedom * std::log(variance) + more.log().sum());
        if (likelihood > most) {
            most = likelihood;
            best = {ratio, variance};
        }
    }
    return best;
}

}  // namespace

shrunk_fit fit_shrunk(const model_matrix& model) {
    const means data = means_of(model);
    std::vector<Eigen::Index> fixed;
    std::vector<Eigen::Index> pairs;
    for (Eigen::Index c = 0; c < data.values.cols(); ++c)
        (model.columns[static_cast<std::size_t>(c)].treatments.size() == 2 ? pairs : fixed).push_back(c);
    Eigen::MatrixXd fixed_values = data.values(Eigen::all, fixed);
    {
        const Eigen::MatrixXd gram = fixed_values.transpose() * fixed_values;
        std::vector<Eigen::Index> kept;
        const normal_equations equations(gram);
        for (const Eigen::Index c : equations.kept()) kept.push_back(fixed[static_cast<std::size_t>(c)]);
        fixed = kept;
        fixed_values = data.values(Eigen::all, fixed);
    }
    const Eigen::HouseholderQR<Eigen::MatrixXd> decomposed(fixed_values);
    const Eigen::MatrixXd basis =
        decomposed.householderQ() * Eigen::MatrixXd::Identity(fixed_values.rows(), fixed_values.cols());
    // The part that the fixed columns do not explain.
    const auto rest_of = [&](const Eigen::MatrixXd& what) {
        return Eigen::MatrixXd(what - basis * (basis.transpose() * what));
    };
    const Eigen::MatrixXd pair_values = data.values(Eigen::all, pairs);
    const Eigen::MatrixXd free = rest_of(pair_values);
    const Eigen::VectorXd response = rest_of(data.response);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(free.transpose() * free);
    const Eigen::VectorXd eigenvalues = solver.eigenvalues().cwiseMax(0);
    const Eigen::MatrixXd& vectors = solver.eigenvectors();
    const Eigen::VectorXd products = vectors.transpose() * (free.transpose() * response);
    const double nothing = 1e-10 * (eigenvalues.size() > 0 ? eigenvalues.maxCoeff() : 0);
    Eigen::VectorXd squares = Eigen::VectorXd::Zero(products.size());
    for (Eigen::Index i = 0; i < products.size(); ++i)
        if (eigenvalues(i) > nothing) squares(i) = products(i) * products(i) / eigenvalues(i);

    shrunk_fit result;
    result.freedom = static_cast<double>(data.values.rows() - fixed_values.cols());
    const double rest = std::max(0.0, response.squaredNorm() - squares.sum());
    const two_variances found = variances_of(squares, eigenvalues, rest, std::max(1.0, result.freedom));
    result.variance = found.variance;
    const Eigen::VectorXd weights = found.ratio / (1 + found.ratio * eigenvalues.array());
    const Eigen::VectorXd of_pairs = vectors * weights.cwiseProduct(products);
    const Eigen::MatrixXd spread = found.variance * (vectors * weights.asDiagonal() * vectors.transpose());

    const auto upper = decomposed.matrixQR().topRows(fixed_values.cols()).triangularView<Eigen::Upper>();
    const Eigen::VectorXd of_fixed =
        upper.solve(Eigen::VectorXd(basis.transpose() * (data.response - pair_values * of_pairs)));
    const Eigen::MatrixXd through = upper.solve(Eigen::MatrixXd(basis.transpose() * pair_values));
    const Eigen::MatrixXd inverse =
        upper.solve(Eigen::MatrixXd::Identity(fixed_values.cols(), fixed_values.cols()));

    result.estimates = Eigen::VectorXd::Zero(data.values.cols());
    result.errors = Eigen::VectorXd::Zero(data.values.cols());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto p = static_cast<Eigen::Index>(i);
        result.estimates(pairs[i]) = of_pairs(p);
        result.errors(pairs[i]) = std::sqrt(spread(p, p));
    }
    for (std::size_t i = 0; i < fixed.size(); ++i) {
        const auto f = static_cast<Eigen::Index>(i);
        result.estimates(fixed[i]) = of_fixed(f);
        result.errors(fixed[i]) = std::sqrt(found.variance * inverse.row(f).squaredNorm() +
                                            through.row(f).dot(spread * through.row(f).transpose()));
    }
    return result;
}

}  // namespace lab
