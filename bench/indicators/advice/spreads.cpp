// indicators advice: moderated variances
#include "indicators/advice/spreads.hpp"

#include "lab/stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace indicators {

namespace {

// For x > 0, by recurrence up to the range where the asymptotic series is exact to 1e-12 (Abramowitz & Stegun,
// 6.3.18 and 6.4.12).
double digamma(double x) {
    double sum = 0;
    for (; x < 10; x += 1) sum -= 1 / x;
    const double square = 1 / (x * x);
    return sum + std::log(x) - 0.5 / x -
           square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
}
double trigamma(double x) {
    double sum = 0;
    for (; x < 10; x += 1) sum += 1 / (x * x);
    const double square = 1 / (x * x);
    return sum + 1 / x + square / 2 +
           square / x * (1.0 / 6 - square * (1.0 / 30 - square * (1.0 / 42 - square / 30)));
}
// The function falls from infinity to 0; solved by bisection.
double inverse_trigamma(double y) {
    double low = 1e-6;
    double high = 1e6;
    for (int i = 0; i < 200; ++i) {
        const double middle = std::sqrt(low * high);
        (trigamma(middle) > y ? low : high) = middle;
    }
    return low;
}

// P(F >= f).
double f_tail(double f, double first, double second) {
    if (!(f > 0)) return 1;
    return std::isinf(f) ? 0 : lab::incomplete_beta(second / 2, first / 2, second / (second + first * f));
}

}  // namespace

spreads::spreads(const std::vector<std::pair<double, double>>& groups) {
    std::vector<std::pair<double, double>> known;
    for (const auto& [sum, freedom] : groups) {
        pooled_squares_ += sum;
        pooled_freedom_ += freedom;
        if (freedom > 0) known.emplace_back(sum, freedom);
    }
    if (pooled_freedom_ <= 0) return;
    const double pooled = pooled_squares_ / pooled_freedom_;
    prior_variance_ = pooled;
    if (known.size() < 2 || pooled <= 0) return;  // one group alone is not moderated
    // For runs without any difference, the logarithm of a millionth of the others' variance is used.
    const auto log_variance = [&](double sum, double freedom) {
        return std::log(std::max(sum / freedom, pooled * 1e-6)) - digamma(freedom / 2) +
               std::log(freedom / 2);
    };
    const double n = static_cast<double>(known.size());
    double mean = 0;
    double chance = 0;
    for (const auto& [sum, freedom] : known) {
        mean += log_variance(sum, freedom) / n;
        chance += trigamma(freedom / 2) / n;
    }
    double between = 0;
    for (const auto& [sum, freedom] : known)
        between += std::pow(log_variance(sum, freedom) - mean, 2) / (n - 1);
    if (between <= chance) {
        prior_freedom_ = std::numeric_limits<double>::infinity();
        return;
    }
    prior_freedom_ = 2 * inverse_trigamma(between - chance);
    prior_variance_ = std::exp(mean + digamma(prior_freedom_ / 2) - std::log(prior_freedom_ / 2));
}

spread spreads::moderated(double squares, double freedom) const {
    if (pooled_freedom_ <= 0) return {0, 0};
    const double others = pooled_freedom_ - freedom;
    if (freedom > 0 && others > 0) {
        constexpr double sure = 0.01;
        const double ratio = squares / freedom / ((pooled_squares_ - squares) / others);
        if (f_tail(ratio, freedom, others) < sure) return {std::sqrt(squares / freedom), freedom};
    }
    if (std::isinf(prior_freedom_)) return {std::sqrt(prior_variance_), pooled_freedom_};
    const double all = prior_freedom_ + freedom;
    if (all <= 0)
        return {std::sqrt(prior_variance_),
                pooled_freedom_};  // it has one run; another configuration was repeated
    const double variance = (prior_freedom_ * prior_variance_ + squares) / all;
    return {std::sqrt(variance), std::min(all, pooled_freedom_)};
}

}  // namespace indicators
