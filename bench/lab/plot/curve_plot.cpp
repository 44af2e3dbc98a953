// lab plot: estimates by the number of runs: how many would have been enough
#include "lab/plot/makers.hpp"

#include "lab/plot/scale.hpp"
#include "lab/plot/style.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

constexpr std::size_t most_lines = 8;

struct estimate_line {
    const fitted_term* term = nullptr;  // the term fitted to all runs
    std::vector<std::pair<double, double>> points;
};

// The curves of the strongest treatments.
std::vector<estimate_line> lines_of(const learning_curve& curve, const fit_result& all) {
    std::vector<estimate_line> lines;
    for (std::size_t t = 0; t < curve.terms.size(); ++t) {
        estimate_line line{all.find(curve.terms[t]), {}};
        for (const curve_point& point : curve.points)
            if (std::isfinite(point.estimates[t]))
                line.points.emplace_back(static_cast<double>(point.runs), point.estimates[t]);
        if (line.term != nullptr) lines.push_back(std::move(line));
    }
    std::stable_sort(lines.begin(), lines.end(), [](const estimate_line& a, const estimate_line& b) {
        return std::abs(a.term->estimate) > std::abs(b.term->estimate);
    });
    if (lines.size() > most_lines) lines.resize(most_lines);
    return lines;
}

double half_width(const fitted_term& term) { return (term.high - term.low) / 2; }

// Names at the right, from the top down, none over another.
void draw_names(canvas& on, std::vector<std::pair<double, std::string>> names, double x, double bottom) {
    std::sort(names.begin(), names.end());
    double room = bottom + 4 - 13 * static_cast<double>(names.size());
    double last = 0;
    for (const auto& [y, name] : names) {
        room += 13;
        last = std::min(std::max(y + 4, last + 13), room);
        on.line(x - 7, y, x - 2, last - 4, "join");
        on.text(x, last, short_name(name, 22), {}, name);
    }
}

}  // namespace

plot runs_plot(study& of) {
    plot result{"runs", "Estimates by the number of runs: how many would have been enough", {}, false, 0, 0,
                {}};
    if (!of.curve().value) return empty_plot(result.name, result.title, of.curve().reason);
    const learning_curve& curve = *of.curve().value;
    const std::vector<estimate_line> lines = lines_of(curve, *of.main_fit().value);
    if (lines.empty() || curve.points.size() < 2)
        return empty_plot(result.name, result.title,
                          "there are too few runs, or no treatment, to look at fewer of them");
    double low = 0;
    double high = 0;
    double widest_name = 0;
    for (const estimate_line& line : lines) {
        widest_name = std::max(widest_name, text_width(short_name(line.term->name, 22)));
        for (const auto& [runs, estimate] : line.points) {
            low = std::min(low, estimate);
            high = std::max(high, estimate);
        }
    }
    constexpr double top = 34;
    constexpr double bottom = 274;
    scale y = scale::linear(low, high, 6);
    y.between(bottom, top);
    const double left = 8 + y.width_of_ticks() + 8;
    const double right = plot_width - 20 - widest_name;
    scale x = scale::logarithmic(static_cast<double>(curve.points.front().runs),
                                 static_cast<double>(curve.points.back().runs));
    x.between(left, right);
    canvas on;
    for (const scale_tick& tick : y.ticks()) {
        on.line(left, y.at(tick.value), right, y.at(tick.value), tick.value == 0 ? "axis" : "grid");
        on.text(left - 8, y.at(tick.value) + 4, tick.text, "e soft");
    }
    for (const scale_tick& tick : x.ticks()) {
        on.line(x.at(tick.value), top, x.at(tick.value), bottom, "grid");
        on.text(x.at(tick.value), bottom + 15, tick.text, "m soft");
    }
    if (curve.enough > 0) {
        const double place = x.at(static_cast<double>(curve.enough));
        on.line(place, top, place, bottom, "mark");
    }
    const double strongest = std::abs(lines.front().term->estimate);
    std::vector<std::pair<double, std::string>> names;
    for (const estimate_line& line : lines) {
        const double share = strongest > 0 ? line.term->estimate / strongest : 0;
        std::string way;
        for (const auto& [runs, estimate] : line.points)
            way += (way.empty() ? "M" : "L") + coordinate(x.at(runs)) + " " + coordinate(y.at(estimate));
        on.path(way, level_style(of.table().more_is_better ? -share : share) + " line", line.term->name);
        if (std::isfinite(half_width(*line.term)))
            on.line(right, y.at(line.term->low), right, y.at(line.term->high), "whisker");
        names.emplace_back(y.at(line.term->estimate), line.term->name);
    }
    draw_names(on, names, right + 10, bottom);
    on.text(8, 16, "estimate [" + of.words().unit + "]", "soft");
    on.text(right, bottom + 34, "runs", "e soft");
    result.height = bottom + 44;
    result.content = on.content();

    const std::size_t runs = curve.points.back().runs;
    const std::string order = curve.by_lot ? " in an order by lot" : " in the order in which they were made";
    if (curve.enough > 0) {
        result.sentence = "From " + std::to_string(curve.enough) + " of " + count(runs, "run") + " on," +
                          order +
                          ", each estimate stayed in the interval that all runs give it: so many would have "
                          "been enough.";
    } else {
        result.sentence = "Before the last of " + count(runs, "run") + "," + order +
                          ", some estimate was still outside the interval that all runs give it: fewer would "
                          "not have been enough.";
    }
    const auto widest =
        std::max_element(lines.begin(), lines.end(), [](const estimate_line& a, const estimate_line& b) {
            return half_width(*a.term) < half_width(*b.term);
        });
    if (half_width(*widest->term) > 0 && std::isfinite(half_width(*widest->term)))
        result.sentence += " The widest of the intervals shown is ±" +
                           of.words().amount(half_width(*widest->term)) + ", of " + widest->term->name +
                           "; half of that takes about four times as many runs.";
    if (curve.terms.size() > lines.size())
        result.sentence += " The " + count(lines.size(), "strongest treatment") + " of " +
                           std::to_string(curve.terms.size()) + " are drawn.";
    return result;
}

}  // namespace lab
