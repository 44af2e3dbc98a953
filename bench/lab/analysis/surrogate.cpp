// lab analysis: a Gaussian process with a weight for each factor
#include "lab/analysis/surrogate.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

constexpr double prior_weight =
    -1.2;  // exp(-1.2) = 0.3: configurations that differ in one factor correlate by 0.74
constexpr double prior_noise = -7;  // logarithm of the share of the variance
constexpr double prior_deviation = 1.5;

}  // namespace

surrogate::surrogate(const std::vector<factor>& factors, const std::vector<configuration>& candidates)
    : factors_(factors), candidates_(candidates) {
    weights_ = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(factors.size()) + 1, prior_weight);
    weights_(weights_.size() - 1) = prior_noise;
}

double surrogate::distance(std::size_t f, std::size_t a, std::size_t b) const {
    const double x = candidates_[a][f];
    const double y = candidates_[b][f];
    if (x == y) return 0;
    const factor& what = factors_[f];
    if (!what.is_number()) return 1;
    if (what.logarithmic && what.low > 0) return std::abs(std::log(x / y)) / std::log(what.high / what.low);
    return std::abs(x - y) / (what.high - what.low);
}

Eigen::MatrixXd surrogate::likeness(const Eigen::VectorXd& weights) const {
    const auto n = static_cast<Eigen::Index>(places_.size());
    const Eigen::VectorXd weight = weights.array().exp();
    Eigen::MatrixXd result(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index j = 0; j <= i; ++j) {
            double sum = 0;
            for (std::size_t f = 0; f < factors_.size(); ++f)
                sum +=
                    weight(static_cast<Eigen::Index>(f)) *
                    distance(f, places_[static_cast<std::size_t>(i)], places_[static_cast<std::size_t>(j)]);
            result(i, j) = result(j, i) = std::exp(-sum);
        }
        result(i, i) += weight(weight.size() - 1);
    }
    return result;
}

double surrogate::log_likelihood(const Eigen::VectorXd& weights) const {
    const Eigen::LLT<Eigen::MatrixXd> decomposed(likeness(weights));
    const double n = static_cast<double>(places_.size());
    const Eigen::VectorXd half = decomposed.matrixL().solve(costs_);
    const double variance = std::max(half.squaredNorm() / n, 1e-12);  // the most likely variance
    const Eigen::MatrixXd lower = decomposed.matrixL();
    const double determinant = 2 * lower.diagonal().array().log().sum();
    Eigen::VectorXd prior = (weights.array() - prior_weight) / prior_deviation;
    prior(prior.size() - 1) = (weights(prior.size() - 1) - prior_noise) / prior_deviation;
    return -0.5 * (n * std::log(variance) + determinant + prior.squaredNorm());
}

// Changes each weight by a step up or down while that is better.
void surrogate::choose_weights() {
    double best = log_likelihood(weights_);
    for (int pass = 0; pass < 3; ++pass) {
        bool changed = false;
        for (Eigen::Index w = 0; w < weights_.size(); ++w) {
            for (const double step : {0.7, -0.7}) {
                for (;;) {
                    Eigen::VectorXd tried = weights_;
                    tried(w) += step;
                    const double value = log_likelihood(tried);
                    if (!(value > best + 1e-6)) break;
                    best = value;
                    weights_ = tried;
                    changed = true;
                }
            }
        }
        if (!changed) break;
    }
}

void surrogate::learn(const std::vector<std::size_t>& places, const std::vector<double>& costs) {
    places_ = places;
    const auto n = static_cast<Eigen::Index>(costs.size());
    costs_ = Eigen::Map<const Eigen::VectorXd>(costs.data(), n);
    mean_ = costs_.mean();
    scale_ = std::sqrt((costs_.array() - mean_).square().mean());
    if (!(scale_ > 0)) scale_ = 1;
    costs_ = (costs_.array() - mean_) / scale_;
    // Weights change little with one more run.
    if (chosen_for_ == 0 || places_.size() >= chosen_for_ + 1 + chosen_for_ / 12) {
        // With many runs only the latest, which contain the best: the cost grows with the cube of their number.
        constexpr std::size_t most = 150;
        if (places_.size() > most) {
            const std::vector<std::size_t> all_places = places_;
            const Eigen::VectorXd all_costs = costs_;
            places_.erase(places_.begin(), places_.end() - static_cast<std::ptrdiff_t>(most));
            costs_ = all_costs.tail(static_cast<Eigen::Index>(most)).eval();
            choose_weights();
            places_ = all_places;
            costs_ = all_costs;
        } else {
            choose_weights();
        }
        chosen_for_ = places_.size();
    }
}

std::vector<surrogate::expectation> surrogate::expectations(const std::vector<std::size_t>& asked) const {
    const auto n = static_cast<Eigen::Index>(places_.size());
    const auto all = static_cast<Eigen::Index>(asked.size());
    const Eigen::VectorXd weight = weights_.array().exp();
    Eigen::MatrixXd across = Eigen::MatrixXd::Zero(n, all);
    for (std::size_t f = 0; f < factors_.size(); ++f)
        for (Eigen::Index j = 0; j < all; ++j)
            for (Eigen::Index i = 0; i < n; ++i)
                across(i, j) +=
                    weight(static_cast<Eigen::Index>(f)) *
                    distance(f, places_[static_cast<std::size_t>(i)], asked[static_cast<std::size_t>(j)]);
    across = (-across.array()).exp();
    const Eigen::LLT<Eigen::MatrixXd> decomposed(likeness(weights_));
    const Eigen::VectorXd half = decomposed.matrixL().solve(costs_);
    const double variance = half.squaredNorm() / static_cast<double>(n);
    const Eigen::MatrixXd through = decomposed.matrixL().solve(across);
    std::vector<expectation> result;
    for (Eigen::Index j = 0; j < all; ++j) {
        const double left = std::max(0.0, 1 - through.col(j).squaredNorm());
        result.push_back({mean_ + scale_ * through.col(j).dot(half), scale_ * std::sqrt(variance * left)});
    }
    return result;
}

}  // namespace lab
