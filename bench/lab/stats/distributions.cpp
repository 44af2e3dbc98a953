// lab stats: distribution functions by the incomplete beta function; quantiles by bisection
#include "lab/stats/distributions.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>

namespace lab {

namespace {

double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    if (std::abs(d) < tiny) d = tiny;
    d = 1 / d;
    double result = d;
    for (int i = 1; i < 10'000; ++i) {
        const double m = i;
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (const double term : {even, odd}) {
            d = 1 + term * d;
            c = 1 + term / c;
            if (std::abs(d) < tiny) d = tiny;
            if (std::abs(c) < tiny) c = tiny;
            d = 1 / d;
            change = c * d;
            result *= change;
        }
        if (std::abs(change - 1) < 1e-16) break;
    }
    return result;
}

// The point where the increasing function `probability_of` reaches `probability`, nearly to the last bit.
template <class Function>
double inverse(const Function& probability_of, double probability) {
    double low = -1;
    double high = 1;
    while (probability_of(low) > probability && low > -1e300) low *= 2;
    while (probability_of(high) < probability && high < 1e300) high *= 2;
    for (int i = 0; i < 2000; ++i) {
        const double between = low + (high - low) / 2;
        if (between <= low || between >= high) break;
        (probability_of(between) < probability ? low : high) = between;
    }
    return high;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    const double front =
        std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
    // The fraction converges fast only on this side of the mean.
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double t_two_sided(double t, double freedom) {
    if (std::isnan(t) || !(freedom > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (std::isinf(t)) return 0;
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double t_probability(double t, double freedom) {
    const double outside = t_two_sided(t, freedom) / 2;
    return t < 0 ? outside : 1 - outside;
}

double t_quantile(double probability, double freedom) {
    if (probability == 0.5) return 0;
    if (probability < 0.5) return -t_quantile(1 - probability, freedom);
    return inverse([&](double t) { return t_probability(t, freedom); }, probability);
}

double normal_probability(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

}  // namespace lab
