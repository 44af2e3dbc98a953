// lab analysis: pairs of runs that differ in one treatment
#include "lab/analysis/deltas.hpp"

#include "lab/data/configuration_index.hpp"
#include "lab/stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace lab {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void add_pairs(std::vector<delta>& deltas, const run_table& table, const repeated_configuration& before,
               const repeated_configuration& after, std::size_t factor, double value, pairing how) {
    const auto add = [&](double cost_before, double cost_after, std::vector<std::size_t> runs_before,
                         std::vector<std::size_t> runs_after) {
        deltas.push_back({factor, value, before.values, cost_before, cost_after, std::move(runs_before),
                          std::move(runs_after)});
    };
    if (how == pairing::mean) {
        add(before.mean, after.mean, before.runs, after.runs);
        return;
    }
    for (const std::size_t a : after.runs) {
        if (how == pairing::nearest) {
            const double time = table.runs[a].time;
            const std::size_t b =
                *std::min_element(before.runs.begin(), before.runs.end(), [&](std::size_t x, std::size_t y) {
                    return std::abs(table.runs[x].time - time) < std::abs(table.runs[y].time - time);
                });
            add(table.runs[b].cost, table.runs[a].cost, {b}, {a});
        } else {
            for (const std::size_t b : before.runs) add(table.runs[b].cost, table.runs[a].cost, {b}, {a});
        }
    }
}

std::vector<double> other_values(const run_table& table, std::size_t factor) {
    std::set<double> values;
    for (const measured_run& run : table.runs) values.insert(run.values[factor]);
    values.erase(table.factors[factor].base_value());
    return {values.begin(), values.end()};
}

// For one side of deltas at a single X: the variance of its share in their mean, and its degrees of freedom.
struct side {
    double variance = 0;
    double freedom = 0;
};
side side_of(const run_table& table, const std::vector<const delta*>& deltas,
             std::vector<std::size_t> delta::* runs_of_side) {
    std::map<std::size_t, double> weights;
    for (const delta* d : deltas) {
        const std::vector<std::size_t>& runs = d->*runs_of_side;
        for (const std::size_t run : runs)
            weights[run] += 1 / static_cast<double>(runs.size()) / static_cast<double>(deltas.size());
    }
    const double n = static_cast<double>(weights.size());
    double mean = 0;
    for (const auto& [run, weight] : weights) mean += table.runs[run].cost / n;
    double squares = 0;
    double weights_squared = 0;
    for (const auto& [run, weight] : weights) {
        squares += std::pow(table.runs[run].cost - mean, 2);
        weights_squared += weight * weight;
    }
    return {n > 1 ? squares / (n - 1) * weights_squared : 0, n - 1};
}

void set_interval(mean_delta& result, const run_table& table, const std::vector<const delta*>& deltas) {
    std::map<configuration, double> errors;
    for (const delta* d : deltas) errors[d->with] += d->change() - result.mean;
    double variance = 0;
    double freedom = static_cast<double>(errors.size()) - 1;
    if (errors.size() > 1) {
        for (const auto& [with, error] : errors) variance += error * error;
        variance *= (freedom + 1) / freedom / std::pow(static_cast<double>(deltas.size()), 2);
    } else {
        const side before = side_of(table, deltas, &delta::runs_before);
        const side after = side_of(table, deltas, &delta::runs_after);
        variance = before.variance + after.variance;
        freedom = std::min(before.freedom, after.freedom);
        if (freedom > 0 && variance > 0) {
            freedom = variance * variance /
                      (before.variance * before.variance / before.freedom +
                       after.variance * after.variance / after.freedom);
        }
    }
    result.low = result.high = nan;
    if (freedom < 1) return;
    const double wide = t_quantile(0.975, freedom) * std::sqrt(variance);
    result.low = result.mean - wide;
    result.high = result.mean + wide;
}

struct line {
    double intercept = 0;
    double slope = 0;
    double slope_error = 0;
};
template <class X, class Y>
line line_through(const std::vector<const delta*>& points, const X& x_of, const Y& y_of) {
    const double n = static_cast<double>(points.size());
    double mean_x = 0;
    double mean_y = 0;
    for (const delta* d : points) {
        mean_x += x_of(*d) / n;
        mean_y += y_of(*d) / n;
    }
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (const delta* d : points) {
        const double dx = x_of(*d) - mean_x;
        const double dy = y_of(*d) - mean_y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    line result;
    result.slope = xx > 0 ? xy / xx : nan;
    result.intercept = mean_y - result.slope * mean_x;
    const double rest = std::max(0.0, yy - result.slope * xy);
    result.slope_error = n > 2 && xx > 0 ? std::sqrt(rest / (n - 2) / xx) : nan;
    return result;
}

std::vector<const delta*> of_treatment(const std::vector<delta>& deltas, std::size_t factor, double value) {
    std::vector<const delta*> result;
    for (const delta& d : deltas)
        if (d.factor == factor && d.value == value) result.push_back(&d);
    return result;
}

}  // namespace

std::vector<delta> deltas_of(const run_table& table, pairing how) {
    const configuration_index measured(table);
    std::vector<delta> result;
    for (std::size_t f = 0; f < table.factors.size(); ++f) {
        for (const double value : other_values(table, f)) {
            for (const repeated_configuration& before : measured.all()) {
                if (before.values[f] != table.factors[f].base_value()) continue;
                configuration treated = before.values;
                treated[f] = value;
                if (const auto after = measured.find(treated))
                    add_pairs(result, table, before, measured.all()[*after], f, value, how);
            }
        }
    }
    return result;
}

std::vector<mean_delta> mean_deltas(const run_table& table, const std::vector<delta>& deltas) {
    std::map<std::pair<std::size_t, double>, std::vector<const delta*>> treatments;
    for (const delta& d : deltas) treatments[{d.factor, d.value}].push_back(&d);
    std::vector<mean_delta> result;
    for (const auto& [key, list] : treatments) {
        mean_delta mean;
        mean.factor = key.first;
        mean.value = key.second;
        mean.treatment = table.factors[mean.factor].treatment(mean.value);
        mean.num_deltas = list.size();
        const double n = static_cast<double>(list.size());
        std::set<std::size_t> runs;
        for (const delta* d : list) {
            mean.mean += d->change() / n;
            mean.mean_log2 += d->before > 0 && d->after > 0 ? std::log2(d->after / d->before) / n : nan;
            runs.insert(d->runs_before.begin(), d->runs_before.end());
            runs.insert(d->runs_after.begin(), d->runs_after.end());
        }
        mean.num_runs = runs.size();
        set_interval(mean, table, list);
        result.push_back(std::move(mean));
    }
    std::stable_sort(result.begin(), result.end(),
                     [&](const mean_delta& a, const mean_delta& b) { return table.better(a.mean, b.mean); });
    return result;
}

crossing crossing_of(const std::vector<delta>& deltas, std::size_t factor, double value) {
    const std::vector<const delta*> points = of_treatment(deltas, factor, value);
    crossing result{nan, nan, nan};
    if (points.size() < 3) return result;
    const line fitted =
        line_through(points, [](const delta& d) { return d.before; }, [](const delta& d) { return d.after; });
    result.intercept = fitted.intercept;
    result.slope = fitted.slope;
    const double at = fitted.intercept / (1 - fitted.slope);
    const auto [least, most] =
        std::minmax_element(points.begin(), points.end(),
                            [](const delta* a, const delta* b) { return a->before < b->before; });
    const line by_mean = line_through(
        points, [](const delta& d) { return (d.before + d.after) / 2; },
        [](const delta& d) { return d.change(); });
    const bool by_chance =
        !(std::abs(by_mean.slope) > 2 * by_mean.slope_error) || (by_mean.slope > 0) != (fitted.slope > 1);
    if (std::isfinite(at) && at > (*least)->before && at < (*most)->before && !by_chance) result.at = at;
    return result;
}

std::vector<split> splits_of(const run_table& table, const std::vector<delta>& deltas, std::size_t factor,
                             double value) {
    const std::vector<const delta*> points = of_treatment(deltas, factor, value);
    std::vector<split> result;
    const double n = static_cast<double>(points.size());
    double mean = 0;
    for (const delta* d : points) mean += d->change() / n;
    double whole = 0;
    for (const delta* d : points) whole += (d->change() - mean) * (d->change() - mean);
    for (std::size_t f = 0; f < table.factors.size(); ++f) {
        if (f == factor) continue;
        std::set<double> values;
        for (const delta* d : points) values.insert(d->with[f]);
        values.erase(table.factors[f].base_value());
        for (const double v : values) {
            split s{f, v, table.factors[f].treatment(v), 0, 0, 0, 0, 0};
            for (const delta* d : points) {
                const bool with = d->with[f] == v;
                (with ? s.mean_with : s.mean_without) += d->change();
                ++(with ? s.num_with : s.num_without);
            }
            if (s.num_with == 0 || s.num_without == 0) continue;
            s.mean_with /= static_cast<double>(s.num_with);
            s.mean_without /= static_cast<double>(s.num_without);
            const double between = static_cast<double>(s.num_with) * std::pow(s.mean_with - mean, 2) +
                                   static_cast<double>(s.num_without) * std::pow(s.mean_without - mean, 2);
            s.explained = whole > 0 ? between / whole : 0;
            result.push_back(std::move(s));
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const split& a, const split& b) { return a.explained > b.explained; });
    return result;
}

}  // namespace lab
