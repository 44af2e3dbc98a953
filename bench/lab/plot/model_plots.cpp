// lab plot: linear models: quality of the fit, coefficients beside means, and interactions
#include "lab/data/numbers.hpp"
#include "lab/plot/bars.hpp"
#include "lab/plot/makers.hpp"
#include "lab/plot/scatter.hpp"
#include "lab/plot/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lab {

namespace {

// The mean of a treatment; for a number, that of its highest value.
const mean_delta* mean_of(study& of, const fitted_term& term) {
    const factor& what = of.table().factors[term.factors[0]];
    for (const mean_delta& m : of.means()) {
        if (m.factor != term.factors[0]) continue;
        if (m.treatment == term.name || (what.is_number() && m.value == what.high)) return &m;
    }
    return nullptr;
}

std::string interval_text(const fitted_term& term) {
    if (!std::isfinite(term.low) || !std::isfinite(term.high)) return {};
    return " (95 %: " + figure(term.low) + " to " + figure(term.high) + ")";
}

}  // namespace

plot fit_plot(study& of, bool pairs) {
    plot result{pairs ? "fit-pairs" : "fit-main",
                pairs ? "Fit with all pairs: predicted and measured" : "Fit: predicted and measured",
                {},
                false,
                0,
                0,
                {}};
    const auto& fitted = pairs ? of.pair_fit() : of.main_fit();
    if (!fitted.value) return empty_plot(result.name, result.title, fitted.reason);
    const fit_result& fit = *fitted.value;
    scatter what;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < fit.predicted.size(); ++i) {
        const double cost = of.table().runs[i].cost;
        if (!std::isfinite(fit.predicted[i])) continue;
        what.points.push_back({cost, fit.predicted[i], 0});
        if (std::abs(fit.predicted[i] - cost) > std::abs(fit.predicted[worst] - of.table().runs[worst].cost))
            worst = i;
    }
    if (what.points.empty()) return empty_plot(result.name, result.title, "the model predicts nothing");
    what.x_name = "measured [" + of.words().unit + "]";
    what.y_name = "predicted [" + of.words().unit + "]";
    what.diagonal = "exact";
    draw_scatter(result, what);
    result.sentence = "A sum of " + count(fit.terms.size(), "term") + (pairs ? ", pairs among them," : "") +
                      " explains " + percent(fit.r2) + " of the variance of " + count(fit.num_runs, "run") +
                      thinned_text(what.points.size());
    if (std::isfinite(fit.cross_validated_error))
        result.sentence += "; configurations that it hasn't seen it predicts to " +
                           of.words().amount(fit.cross_validated_error) + " (root mean square)";
    const double cost = of.table().runs[worst].cost;
    if (std::abs(fit.predicted[worst] - cost) > 1e-9 * std::abs(cost)) {
        result.sentence += ". It is furthest off where " + of.words().amount(cost) + " were measured and " +
                           of.words().amount(fit.predicted[worst]) + " predicted.";
    } else {
        result.sentence += ". It meets every run.";
    }
    if (!fit.aliased.empty())
        result.sentence += " " + count(fit.aliased.size(), "term") + " can't be told apart in these runs.";
    return result;
}

plot coefficients_plot(study& of) {
    plot result{"coefficients", "Coefficients of the linear model beside the means", {}, false, 0, 0, {}};
    const auto& fitted = of.main_fit();
    if (!fitted.value) return empty_plot(result.name, result.title, fitted.reason);
    bar_chart chart;
    chart.series = {"mean of the deltas", "coefficient"};
    chart.axis = "change [" + of.words().unit + "]";
    std::vector<const fitted_term*> terms;
    for (const fitted_term& term : fitted.value->terms)
        if (term.treatments.size() == 1 && term.factors.size() == 1) terms.push_back(&term);
    if (terms.empty())
        return empty_plot(result.name, result.title, "the model has no coefficient of a treatment");
    std::stable_sort(terms.begin(), terms.end(), [&](const fitted_term* a, const fitted_term* b) {
        return of.table().better(a->estimate, b->estimate);
    });
    const fitted_term* most = nullptr;
    double most_mean = 0;
    std::size_t compared = 0;
    for (const fitted_term* term : terms) {
        bar_row row{term->name, {{}, {term->estimate, term->low, term->high}}, {}};
        if (const mean_delta* m = mean_of(of, *term)) {
            row.bars[0] = {m->mean, m->low, m->high};
            ++compared;
            if (most == nullptr ||
                std::abs(m->mean - term->estimate) > std::abs(most_mean - most->estimate)) {
                most = term;
                most_mean = m->mean;
            }
        }
        chart.rows.push_back(std::move(row));
    }
    const bool cut = draw_bars(result, chart);
    if (most == nullptr) {
        result.sentence = "No treatment was ever applied alone, so there are coefficients but no means.";
    } else if (std::abs(most_mean - most->estimate) <= 1e-6 * std::abs(most->estimate)) {
        result.sentence =
            std::string(compared == terms.size()
                            ? "Each coefficient is the mean of its treatment, as it is in balanced runs. "
                            : "Where there is a mean, the coefficient is the same. ") +
            terms.front()->name + " " + of.words().effect(terms.front()->estimate) + ".";
    } else {
        result.sentence = "They differ most for " + most->name + ": its mean is " +
                          of.words().amount(most_mean) + ", its coefficient " +
                          of.words().amount(most->estimate) + interval_text(*most) +
                          ". Means are of the pairs that were measured, coefficients of all runs.";
    }
    if (cut) result.sentence += " Intervals that are longer than twice the longest bar are cut.";
    return result;
}

namespace {

bool is_treatment(const run_table& table, const std::string& name) {
    return std::any_of(table.factors.begin(), table.factors.end(), [&](const factor& f) {
        if (f.is_number()) return f.name == name;
        for (std::size_t level = 1; level < f.levels.size(); ++level)
            if (f.treatment(static_cast<double>(level)) == name) return true;
        return false;
    });
}

// The places of the two names of a term "a*b".
using pair_places = std::map<std::string, std::pair<std::size_t, std::size_t>>;

tile_table tiles_of(study& of, const fit_result& fit) {
    tile_table tiles;
    for (const fitted_term& term : fit.terms)
        if (term.treatments.size() == 1 && term.factors.size() == 1) tiles.names.push_back(term.name);
    for (const aliased_term& term : fit.aliased)  // a treatment without a term may have pairs
        if (is_treatment(of.table(), term.name)) tiles.names.push_back(term.name);
    const std::size_t n = tiles.names.size();
    tiles.values.assign(n, std::vector<double>(n, 0.0));
    tiles.kinds.assign(n, std::vector<tile_kind>(n, tile_kind::none));
    tiles.unit = of.words().unit;
    pair_places places;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (i != j) places[tiles.names[i] + "*" + tiles.names[j]] = {i, j};
    const auto set = [&](const std::string& name, tile_kind kind, double value) {
        const auto found = places.find(name);
        if (found == places.end()) return;
        const auto [i, j] = found->second;
        tiles.values[i][j] = tiles.values[j][i] = value;
        tiles.kinds[i][j] = tiles.kinds[j][i] = kind;
    };
    for (const fitted_term& term : fit.terms)
        if (term.treatments.size() == 2) set(term.name, tile_kind::known, term.estimate);
    for (const aliased_term& term : fit.aliased) set(term.name, tile_kind::aliased, 0);
    return tiles;
}

}  // namespace

plot interactions_plot(study& of) {
    plot result{
        "interactions", "Interactions: what each two treatments add to their sum", {}, false, 0, 0, {}};
    const auto& fitted = of.pair_fit();
    if (!fitted.value) return empty_plot(result.name, result.title, fitted.reason);
    const fit_result& fit = *fitted.value;
    const fitted_term* least = nullptr;
    const fitted_term* most = nullptr;
    std::size_t pairs = 0;
    std::size_t certain = 0;
    for (const fitted_term& term : fit.terms) {
        if (term.treatments.size() != 2) continue;
        ++pairs;
        if (term.low > 0 || term.high < 0) ++certain;
        if (least == nullptr || term.estimate < least->estimate) least = &term;
        if (most == nullptr || term.estimate > most->estimate) most = &term;
    }
    if (pairs == 0)
        return empty_plot(result.name, result.title, "these runs tell no pair of treatments from their sum");
    draw_tiles(result, tiles_of(of, fit));
    const auto pair_text = [](const fitted_term& t) { return t.treatments[0] + " × " + t.treatments[1]; };
    const auto effect_text = [&](const fitted_term& t) {
        return of.words().amount(std::abs(t.estimate)) + (t.estimate < 0 ? " less" : " more") +
               " than the sum of what they do alone" + interval_text(t);
    };
    const fitted_term& first = std::abs(most->estimate) > std::abs(least->estimate) ? *most : *least;
    const fitted_term& other = &first == most ? *least : *most;
    double whole = 0;
    for (const measured_run& run : of.table().runs) whole = std::max(whole, std::abs(run.cost));
    const double nothing = 1e-9 * whole;
    if (std::abs(first.estimate) <= nothing) {
        result.sentence = "None of " + count(pairs, "pair") + " adds anything to the sum of both treatments.";
    } else {
        result.sentence = pair_text(first) + " is the strongest of " + count(pairs, "pair") +
                          ": both together are " + effect_text(first) + ".";
        if ((other.estimate < 0) != (first.estimate < 0) && std::abs(other.estimate) > nothing)
            result.sentence += " The other way it is " + pair_text(other) + ", " + effect_text(other) + ".";
    }
    result.sentence +=
        " The intervals of " + count(certain, "pair") + " don't include 0. Blue is less, orange more.";
    std::size_t aliased = 0;
    for (const aliased_term& term : fit.aliased)
        aliased += term.name.find('*') != std::string::npos ? 1U : 0U;
    if (aliased > 0)
        result.sentence += " Hatched: " + count(aliased, "pair") +
                           " that these runs can't tell from others (" + fit.aliased.back().name + ": " +
                           fit.aliased.back().why + ").";
    if (fit.shrunk) result.sentence += " With so few runs these are the best predictions, pulled towards 0.";
    return result;
}

}  // namespace lab
