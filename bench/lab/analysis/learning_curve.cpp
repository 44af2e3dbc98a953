// lab analysis: fits models to the first runs
#include "lab/analysis/learning_curve.hpp"

#include "lab/data/input_error.hpp"
#include "lab/stats/shuffle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace lab {

learning_curve learning_curve_of(const run_table& table, fit_options options) {
    options.pairs = false;
    const fit_result all = fit(table, options);
    std::vector<const fitted_term*> terms;
    learning_curve result;
    for (const fitted_term& term : all.terms) {
        if (term.treatments.empty()) continue;
        terms.push_back(&term);
        result.terms.push_back(term.name);
    }
    run_table in_order = table;
    result.by_lot = !table.has_times;
    if (result.by_lot) {
        std::mt19937_64 random(options.seed);
        shuffle(in_order.runs, random);
    } else {
        std::stable_sort(in_order.runs.begin(), in_order.runs.end(),
                         [](const measured_run& a, const measured_run& b) { return a.time < b.time; });
    }
    for (std::size_t runs = std::max<std::size_t>(8, terms.size() + 2);; runs += (runs + 1) / 2) {
        runs = std::min(runs, table.runs.size());
        run_table first = in_order;
        first.runs.resize(runs);
        curve_point point{runs, std::vector<double>(terms.size(), std::numeric_limits<double>::quiet_NaN())};
        try {
            const fit_result part = runs == table.runs.size() ? all : fit(first, options);
            for (std::size_t t = 0; t < terms.size(); ++t)
                if (const fitted_term* term = part.find(terms[t]->name)) point.estimates[t] = term->estimate;
        } catch (const input_error&) {  // the first runs have only one configuration
        }
        result.points.push_back(std::move(point));
        if (runs == table.runs.size()) break;
    }
    double strongest = 0;
    for (const fitted_term* term : terms) strongest = std::max(strongest, std::abs(term->estimate));
    const double rounding = 1e-9 * strongest;  // smaller intervals count as empty
    const auto settled = [&](const curve_point& point) {
        for (std::size_t t = 0; t < terms.size(); ++t)
            if (!(point.estimates[t] >= terms[t]->low - rounding &&
                  point.estimates[t] <= terms[t]->high + rounding))
                return false;
        return true;
    };
    for (std::size_t i = result.points.size() - 1; i-- > 0 && settled(result.points[i]);)
        result.enough = result.points[i].runs;
    return result;
}

}  // namespace lab
