// lab analysis: hierarchical divisive estimation of change points
#include "lab/analysis/change_points.hpp"

#include "lab/stats/shuffle.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace lab {

namespace {

struct part {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The statistic from the sums of distances between the parts and within them.
double statistic(double between, double within_first, double within_second, double m, double n) {
    const double first = m > 1 ? within_first * 2 / (m * (m - 1)) : 0;
    const double second = n > 1 ? within_second * 2 / (n * (n - 1)) : 0;
    return m * n / (m + n) * (2 * between / (m * n) - first - second);
}

change_point best_of_all(const std::vector<double>& values, const std::vector<part>& parts,
                         std::size_t least) {
    change_point best;
    for (const part& p : parts) {
        const std::vector<double> of_part(values.begin() + static_cast<std::ptrdiff_t>(p.begin),
                                          values.begin() + static_cast<std::ptrdiff_t>(p.end));
        change_point found = best_split(of_part, least);
        if (found.at == 0 || (best.at != 0 && found.q <= best.q)) continue;
        best = found;
        best.at += p.begin;
    }
    return best;
}

}  // namespace

change_point best_split(const std::vector<double>& values, std::size_t least) {
    change_point best;
    const std::size_t n = values.size();
    least = std::max<std::size_t>(least, 1);
    if (n < 2 * least) return best;
    double between = 0;
    double first = 0;
    double second = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) second += std::abs(values[i] - values[j]);
    bool any = false;
    for (std::size_t at = 1; at + least <= n; ++at) {
        // The value before `at` moves from the second part to the first.
        double to_first = 0;
        double to_second = 0;
        for (std::size_t i = 0; i + 1 < at; ++i) to_first += std::abs(values[i] - values[at - 1]);
        for (std::size_t j = at; j < n; ++j) to_second += std::abs(values[j] - values[at - 1]);
        first += to_first;
        second -= to_second;
        between += to_second - to_first;
        if (at < least) continue;
        const double q =
            statistic(between, first, second, static_cast<double>(at), static_cast<double>(n - at));
        if (!any || q > best.q) best = {at, q, 1};
        any = true;
    }
    return best;
}

std::vector<change_point> change_points(const std::vector<double>& values, const change_options& options) {
    std::vector<change_point> found;
    std::vector<part> parts{{0, values.size()}};
    std::mt19937_64 random(options.seed);
    for (;;) {
        change_point best = best_of_all(values, parts, options.least);
        if (best.at == 0) break;
        std::size_t as_good = 1;
        std::vector<double> permuted = values;
        for (std::size_t round = 0; round < options.permutations; ++round) {
            for (const part& p : parts)
                shuffle(permuted.begin() + static_cast<std::ptrdiff_t>(p.begin),
                        permuted.begin() + static_cast<std::ptrdiff_t>(p.end), random);
            const change_point other = best_of_all(permuted, parts, options.least);
            as_good += other.at != 0 && other.q >= best.q * (1 - 1e-12);
        }
        best.p = static_cast<double>(as_good) / static_cast<double>(options.permutations + 1);
        if (best.p > options.significance) break;
        found.push_back(best);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].begin < best.at && best.at < parts[i].end) {
                parts.push_back({best.at, parts[i].end});
                parts[i].end = best.at;
                break;
            }
        }
    }
    std::sort(found.begin(), found.end(),
              [](const change_point& a, const change_point& b) { return a.at < b.at; });
    return found;
}

}  // namespace lab
