// lab analysis: intervals of ratios, and verdicts
#include "lab/analysis/comparison.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab {

namespace {

struct logs {
    double mean = 0;
    double variance_of_mean = 0;
    double freedom = 0;
};
logs logs_of(const std::vector<double>& costs) {
    logs result;
    const double n = static_cast<double>(costs.size());
    for (const double cost : costs) {
        if (!(cost > 0)) throw input_error("a cost is " + short_text(cost) + "; ratios need costs above 0");
        result.mean += std::log(cost) / n;
    }
    result.freedom = n - 1;
    for (const double cost : costs)
        result.variance_of_mean += std::pow(std::log(cost) - result.mean, 2) / std::max(1.0, n - 1) / n;
    return result;
}

struct interval {
    double middle = 0;
    double error = 0;
    double freedom = 0;
};

// The mean over tasks of B's mean minus A's.
interval by_runs(const std::vector<compared_costs>& costs) {
    interval result;
    const double things = static_cast<double>(costs.size());
    double variance = 0;
    double spread = 0;
    for (const compared_costs& c : costs) {
        for (const auto& [list, sign] : {std::pair(&c.a, -1.0), std::pair(&c.b, 1.0)}) {
            const logs of = logs_of(*list);
            const double part = of.variance_of_mean / (things * things);
            result.middle += sign * of.mean / things;
            variance += part;
            spread += part * part / of.freedom;
        }
    }
    result.error = std::sqrt(variance);
    result.freedom = spread > 0 ? variance * variance / spread : 1e9;
    return result;
}

interval by_things(const std::vector<compared_costs>& costs) {
    std::vector<double> ratios;
    for (const compared_costs& c : costs) ratios.push_back(logs_of(c.b).mean - logs_of(c.a).mean);
    interval result;
    const double n = static_cast<double>(ratios.size());
    for (const double ratio : ratios) result.middle += ratio / n;
    double squares = 0;
    for (const double ratio : ratios) squares += std::pow(ratio - result.middle, 2);
    result.error = std::sqrt(squares / (n - 1) / n);
    result.freedom = n - 1;
    return result;
}

}  // namespace

comparison compare(const std::vector<compared_costs>& costs, const comparison_options& options) {
    comparison result;
    std::vector<compared_costs> both;
    for (const compared_costs& c : costs) {
        result.num_a += c.a.size();
        result.num_b += c.b.size();
        if (!c.a.empty() && !c.b.empty()) both.push_back(c);
    }
    result.num_compared = both.size();
    result.verdict = "undecided";
    result.ratio = result.low = result.high = std::numeric_limits<double>::quiet_NaN();
    const bool repeated = std::all_of(both.begin(), both.end(), [](const compared_costs& c) {
        return c.a.size() > 1 && c.b.size() > 1;
    });
    if (both.empty()) {
        result.why = "A and B have no configuration in common";
        return result;
    }
    if (!repeated && both.size() < 3) {
        result.why = "there are too few runs: at least two of each on both sides, or three configurations";
        return result;
    }
    const interval found = repeated ? by_runs(both) : by_things(both);
    const double wide = t_quantile(0.5 + options.confidence / 2, found.freedom) * found.error;
    result.ratio = std::exp(found.middle);
    result.low = std::exp(found.middle - wide);
    result.high = std::exp(found.middle + wide);
    if (result.low >= 1 / (1 + options.threshold) && result.high <= 1 + options.threshold) {
        result.verdict = "same";
    } else if (std::abs(found.middle) > t_quantile(0.5 + options.sure / 2, found.freedom) * found.error) {
        result.verdict = (found.middle > 0) == options.more_is_better ? "faster" : "slower";
    } else {
        result.why =
            "the interval is wider than the threshold, and 1 not surely outside of it; more runs are needed";
    }
    return result;
}

}  // namespace lab
