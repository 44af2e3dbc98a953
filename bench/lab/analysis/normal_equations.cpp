// lab analysis: Cholesky decomposition, column by column
#include "lab/analysis/normal_equations.hpp"

#include <Eigen/Dense>

#include <cmath>

namespace lab {

namespace {

// A column counts as dependent if less than this share of its squared length is independent of the columns before.
constexpr double nothing = 1e-10;

}  // namespace

normal_equations::normal_equations(const Eigen::MatrixXd& gram)
    : gram_(gram), scale_(gram.diagonal().cwiseMax(0).cwiseSqrt()), lower_(gram.rows(), gram.rows()) {
    const double largest = scale_.size() > 0 ? scale_.maxCoeff() : 0;
    lower_.setZero();
    Eigen::Index size = 0;
    Eigen::VectorXd row(gram.rows());
    for (Eigen::Index c = 0; c < gram.rows(); ++c) {
        double rest = 0;
        if (scale_(c) > largest * 1e-13) {
            for (Eigen::Index k = 0; k < size; ++k) {
                const Eigen::Index other = kept_[static_cast<std::size_t>(k)];
                row(k) = gram(c, other) / (scale_(c) * scale_(other));
            }
            lower_.topLeftCorner(size, size).triangularView<Eigen::Lower>().solveInPlace(row.head(size));
            rest = 1 - row.head(size).squaredNorm();
        }
        if (rest < nothing) {
            left_out_.push_back(c);
            continue;
        }
        lower_.row(size).head(size) = row.head(size);
        lower_(size, size) = std::sqrt(rest);
        kept_.push_back(c);
        ++size;
    }
    lower_.conservativeResize(size, size);
}

Eigen::VectorXd normal_equations::solve(const Eigen::VectorXd& products) const {
    const auto size = static_cast<Eigen::Index>(kept_.size());
    Eigen::VectorXd right(size);
    for (Eigen::Index k = 0; k < size; ++k) {
        const Eigen::Index c = kept_[static_cast<std::size_t>(k)];
        right(k) = products(c) / scale_(c);
    }
    lower_.triangularView<Eigen::Lower>().solveInPlace(right);
    lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(right);
    Eigen::VectorXd result = Eigen::VectorXd::Zero(products.size());
    for (Eigen::Index k = 0; k < size; ++k) {
        const Eigen::Index c = kept_[static_cast<std::size_t>(k)];
        result(c) = right(k) / scale_(c);
    }
    return result;
}

Eigen::VectorXd normal_equations::inverse_diagonal() const {
    const auto size = static_cast<Eigen::Index>(kept_.size());
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(size, size);
    lower_.triangularView<Eigen::Lower>().solveInPlace(inverse);
    Eigen::VectorXd result = Eigen::VectorXd::Zero(gram_.rows());
    for (Eigen::Index k = 0; k < size; ++k) {
        const Eigen::Index c = kept_[static_cast<std::size_t>(k)];
        result(c) = inverse.col(k).squaredNorm() / (scale_(c) * scale_(c));
    }
    return result;
}

double normal_equations::log_determinant() const {
    double sum = 0;
    for (std::size_t k = 0; k < kept_.size(); ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        sum += 2 * std::log(lower_(i, i) * scale_(kept_[k]));
    }
    return sum;
}

std::vector<std::pair<Eigen::Index, double>> normal_equations::made_of(Eigen::Index column) const {
    std::vector<std::pair<Eigen::Index, double>> result;
    const Eigen::VectorXd coefficients = solve(gram_.col(column));
    for (const Eigen::Index c : kept_)
        if (std::abs(coefficients(c)) > 1e-6) result.emplace_back(c, coefficients(c));
    return result;
}

}  // namespace lab
