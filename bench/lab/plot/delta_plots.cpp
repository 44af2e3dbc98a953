// lab plot: single deltas: before and after, coloured by the factor that explains them
#include "lab/data/numbers.hpp"
#include "lab/plot/makers.hpp"
#include "lab/plot/scatter.hpp"
#include "lab/plot/strips.hpp"
#include "lab/plot/wording.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

scatter scatter_of(study& of, std::size_t factor, double value, const split* by) {
    scatter result;
    for (const delta* d : of.deltas_of_treatment(factor, value)) {
        const bool with = by == nullptr || d->with[by->factor] == by->value;
        result.points.push_back({d->before, d->after, with ? 0 : 1});
    }
    if (by != nullptr)
        result.legend = {{"dot0", "with " + by->treatment, true}, {"dot1", "without " + by->treatment, true}};
    result.x_name = "before [" + of.words().unit + "]";
    result.y_name = "after [" + of.words().unit + "]";
    result.diagonal = "no change";
    return result;
}

// A scatter of one treatment's deltas, coloured by another treatment.
plot coloured(study& of, plot result, const mean_delta& what, const std::optional<split>& by) {
    result.title = "Before and after " + what.treatment + (by ? ", by " + by->treatment : std::string());
    draw_scatter(result, scatter_of(of, what.factor, what.value, by ? &*by : nullptr));
    result.sentence = what.treatment + " " + of.words().effect(what.mean) + " on average";
    if (by) {
        result.sentence += ": it " + of.words().effect(by->mean_without) + " without " + by->treatment +
                           ", and " + of.words().effect(by->mean_with) + " with it, which explains " +
                           percent(by->explained) + " of the variance of its " +
                           count(what.num_deltas, "delta");
    } else {
        result.sentence +=
            ", over " + count(what.num_deltas, "delta") + "; no other treatment explains why they differ";
    }
    result.sentence += thinned_text(what.num_deltas) + ". Below the diagonal is less than before.";
    return result;
}

const mean_delta* mean_of(study& of, std::size_t factor, double value) {
    for (const mean_delta& m : of.means())
        if (m.factor == factor && m.value == value) return &m;
    return nullptr;
}

}  // namespace

plot before_after_plot(study& of) {
    plot result{"scatter", "Before and after the strongest treatment", {}, false, 0, 0, {}};
    if (of.subject() == nullptr) return empty_plot(result.name, result.title, no_deltas);
    return coloured(of, result, *of.subject(), of.partner());
}

plot flipped_plot(study& of) {
    plot result{"scatter-flipped", "The same, flipped", {}, false, 0, 0, {}};
    if (of.subject() == nullptr) return empty_plot(result.name, result.title, no_deltas);
    const auto& partner = of.partner();
    if (!partner)
        return empty_plot(result.name, result.title,
                          "no other treatment explains why the changes by " + of.subject()->treatment +
                              " differ");
    const mean_delta* other = mean_of(of, partner->factor, partner->value);
    if (other == nullptr)
        return empty_plot(result.name, result.title,
                          "no two runs differ in " + partner->treatment + " alone");
    for (const split& s : splits_of(of.table(), of.deltas(), other->factor, other->value))
        if (s.factor == of.subject()->factor && s.value == of.subject()->value)
            return coloured(of, result, *other, s);
    return coloured(of, result, *other, std::nullopt);
}

plot crossing_plot(study& of) {
    plot result{"crossing", "A treatment that helps at one end and hurts at the other", {}, false, 0, 0, {}};
    const mean_delta* best = nullptr;
    crossing found;
    double best_size = 0;
    for (const mean_delta& m : of.means()) {
        if (of.is_chosen() && &m != of.subject()) continue;
        const crossing c = crossing_of(of.deltas(), m.factor, m.value);
        if (!std::isfinite(c.at)) continue;
        double least = c.at;
        double most = c.at;
        for (const delta* d : of.deltas_of_treatment(m.factor, m.value)) {
            least = std::min(least, d->before);
            most = std::max(most, d->before);
        }
        // The change at the weaker end of the line.
        const double size = std::abs(c.slope - 1) * std::min(c.at - least, most - c.at);
        if (best != nullptr && size <= best_size) continue;
        best = &m;
        best_size = size;
        found = c;
    }
    if (best == nullptr)
        return empty_plot(result.name, result.title,
                          of.means().empty()
                              ? no_deltas
                              : (of.is_chosen() ? of.subject()->treatment + " never" : "no treatment") +
                                    " helps at one end of what was measured and hurts at "
                                    "the other by more than chance allows");
    result.title = "Before and after " + best->treatment + ", and where it crosses";
    scatter what = scatter_of(of, best->factor, best->value, nullptr);
    what.line = fitted_line{found.intercept, found.slope, found.at};
    draw_scatter(result, what);
    const bool less_above = found.slope < 1;
    const bool helps_above = less_above != of.words().more_is_better;
    result.sentence = best->treatment + (helps_above ? " helps" : " hurts") + " where it was above " +
                      of.words().amount(found.at) + " before, and " + (helps_above ? "hurts" : "helps") +
                      " below: after = " + figure(found.intercept) + " + " + figure(found.slope) +
                      " · before, by least squares over " + count(best->num_deltas, "delta") +
                      thinned_text(best->num_deltas) + ".";
    return result;
}

plot colours_plot(study& of) {
    plot result{"colours", "Each treatment's changes, from slow to fast", {}, false, 0, 0, {}};
    if (of.means().empty()) return empty_plot(result.name, result.title, no_deltas);
    strip_chart chart;
    chart.axis = "before [" + of.words().unit + "]";
    chart.more_is_better = of.words().more_is_better;
    std::size_t points = 0;
    std::size_t left_out = 0;
    const mean_delta* strongest = nullptr;
    for (const mean_delta& m : of.means()) {
        strip_row row{m.treatment, {}};
        for (const delta* d : of.deltas_of_treatment(m.factor, m.value)) {
            if (d->before > 0 && d->after > 0) {
                row.strips.push_back({d->before, std::log2(d->after / d->before)});
            } else {
                ++left_out;
            }
        }
        points += row.strips.size();
        if (std::isfinite(m.mean_log2) &&
            (strongest == nullptr || std::abs(m.mean_log2) > std::abs(strongest->mean_log2)))
            strongest = &m;
        if (!row.strips.empty()) chart.rows.push_back(std::move(row));
    }
    if (points == 0)
        return empty_plot(result.name, result.title, "no cost is positive before and after a treatment");
    draw_strips(result, chart);
    const double limit = colour_limit(chart.rows);
    if (limit == 0) {
        result.sentence = "No treatment changes anything.";
    } else {
        if (strongest != nullptr)
            result.sentence = strongest->treatment + " multiplies " + of.table().cost_name + " by " +
                              short_text(std::exp2(strongest->mean_log2), 3) +
                              " on average, the greatest change of all. ";
        result.sentence +=
            "Blue is less than before, orange more; colours end at " + short_text(std::exp2(limit), 3) +
            " times as much or as little, within which 95 % of the changes are" + thinned_text(points) + ".";
    }
    if (left_out > 0)
        result.sentence += " " + count(left_out, "delta") + " without a logarithm are left out.";
    return result;
}

}  // namespace lab
