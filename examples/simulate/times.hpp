// simulate: times of invocations from a distribution.
// All times of a list are drawn in advance, so that a run and a prediction have the same.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_TIMES_HPP
#define WEIR_EXAMPLES_SIMULATE_TIMES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "parts.hpp"

#include <algorithm>  // for std::shuffle
#include <cmath>      // for std::erfc, std::exp, std::log, std::sqrt
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <numbers>    // for std::numbers::sqrt2
#include <random>     // for std::mt19937_64
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

inline constexpr std::size_t drawn_times = 4'096;

// The x for which a standard normal variable is below x with this probability.
inline double normal_quantile(double probability) {
    double low = -10, high = 10;
    for (int i = 0; i < 60; ++i) {
        const double x = (low + high) / 2;
        (0.5 * std::erfc(-x / std::numbers::sqrt2) < probability ? low : high) = x;
    }
    return low;
}

// Quantiles at equal distances, shuffled: so the list has the distribution whatever the seed.
template <class Quantile>
std::vector<std::int64_t> drawn(double mean_ns, std::uint64_t seed, Quantile quantile) {
    std::vector<double> values;
    double sum = 0;
    for (std::size_t i = 0; i < drawn_times; ++i) {
        values.push_back(quantile((static_cast<double>(i) + 0.5) / static_cast<double>(drawn_times)));
        sum += values.back();
    }
    const double factor = mean_ns * static_cast<double>(drawn_times) / sum;
    std::vector<std::int64_t> times;
    for (const double each : values) times.push_back(static_cast<std::int64_t>(each * factor + 0.5));
    std::mt19937_64 random(seed);
    std::shuffle(times.begin(), times.end(), random);
    return times;
}

// {"kind": "constant", "exp" or "lognormal", "mean_ms": ..., "sigma": of "lognormal", "seed": ...}
// `number`: of the list in the spec. Lists without a seed differ by it.
inline std::vector<std::int64_t> to_times(const json& value, const std::string& path, std::uint64_t number) {
    const object o(value, path, {"kind", "mean_ms", "sigma", "seed"});
    const std::string kind = word(o, "kind", {"constant", "exp", "lognormal"});
    const double mean_ns = 1e6 * o.number("mean_ms", 0, static_cast<double>(max_time) / 1e6 / 1000);
    if (kind == "lognormal" && !o.has("sigma")) throw mistake{o.field("sigma"), "is missing"};
    if (kind != "lognormal" && o.has("sigma"))
        throw mistake{o.field("sigma"), "belongs to the kind \"lognormal\""};
    const auto seed = static_cast<std::uint64_t>(
        o.integer_or(static_cast<std::int64_t>(1'000 + number), "seed", 0, INT64_MAX));
    if (kind == "constant" || mean_ns <= 0) return {static_cast<std::int64_t>(mean_ns + 0.5)};
    if (kind == "exp") return drawn(mean_ns, seed, [](double p) { return -std::log(1 - p); });
    const double sigma = o.number("sigma", 0, 5);
    return drawn(mean_ns, seed, [sigma](double p) { return std::exp(sigma * normal_quantile(p)); });
}

// The times of a stage, source or consumer: a list of whole nanoseconds, or a distribution.
inline std::vector<std::int64_t> times_or_drawn(const object& o, const std::string& list,
                                                const std::string& distribution, std::uint64_t number) {
    if (!o.has(distribution)) return o.times(list);
    if (o.has(list)) throw mistake{o.field(distribution), "replaces '" + list + "': give one of them"};
    return to_times(o.at(distribution), o.field(distribution), number);
}

}  // namespace detail

}  // namespace simulate

#endif
