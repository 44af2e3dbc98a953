// lab plot: principal components of sequences: biplot and scree
#include "lab/plot/makers.hpp"

#include "lab/plot/scale.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

struct arrow {
    std::string name;
    double x = 0;
    double y = 0;
    [[nodiscard]] double length() const { return std::hypot(x, y); }
};

// The longest arrow first.
std::vector<arrow> arrows_of(const principal_components& components) {
    std::vector<arrow> arrows;
    for (std::size_t t = 0; t < components.treatments.size(); ++t)
        arrows.push_back({components.treatments[t], components.loadings[0][t], components.loadings[1][t]});
    std::stable_sort(arrows.begin(), arrows.end(),
                     [](const arrow& a, const arrow& b) { return a.length() > b.length(); });
    return arrows;
}

double most_of(const std::vector<double>& figures) {
    double most = 0;
    for (const double f : figures) most = std::max(most, std::abs(f));
    return most;
}

// Names at the tips of the longest arrows, where they cover no other name.
void draw_names(canvas& on, const std::vector<arrow>& arrows, double middle_x, double middle_y, double unit) {
    constexpr std::size_t most_names = 10;
    std::vector<std::pair<double, double>> taken;
    for (std::size_t i = 0; i < std::min(arrows.size(), most_names); ++i) {
        const arrow& a = arrows[i];
        if (a.length() < 0.05) break;
        double x = middle_x + a.x * unit;
        double y = middle_y - a.y * unit + (a.y > 0 ? -5 : 14);
        const std::string text = short_name(a.name, 28);
        const double half = text_width(text) / 2;
        x = std::clamp(x, 8 + half, std::max(plot_width - 8 - half, 8 + half));
        for (std::size_t tries = 0; tries < 20; ++tries) {
            const bool free = std::all_of(taken.begin(), taken.end(), [&](const auto& other) {
                return std::abs(other.second - y) >= 13 || std::abs(other.first - x) > half + 60;
            });
            if (free) break;
            y += a.y > 0 ? -13 : 13;
        }
        taken.emplace_back(x, y);
        on.text(x, y, text, "m halo");
    }
}

std::string opposed(const std::vector<double>& loadings, const std::vector<std::string>& names) {
    const auto [least, most] = std::minmax_element(loadings.begin(), loadings.end());
    const std::string best = names[static_cast<std::size_t>(most - loadings.begin())];
    const std::string worst = names[static_cast<std::size_t>(least - loadings.begin())];
    if (*least > -0.2) return "is mostly about " + best;
    return "sets " + best + " against " + worst;
}

}  // namespace

plot biplot(study& of) {
    const std::string name = "biplot";
    const std::string title = "Biplot: principal components of whole sequences";
    if (!of.sequences().value) return empty_plot(name, title, of.sequences().reason);
    const principal_components& components = of.components();
    if (components.scores.size() < 2 || !(components.variances[0] > 0))
        return empty_plot(name, title, "all sequences are alike");
    const auto& first = components.scores[0];
    const auto& second = components.scores[1];
    constexpr double top = 26;
    constexpr double size = 340;
    constexpr double left = 52;
    canvas on;
    const double most = std::max(most_of(first), most_of(second));
    scale x = scale::linear(-most, most, 6);
    scale y = x;
    x.between(left, plot_width - 24);
    y.between(top + size, top);
    for (const scale_tick& tick : x.ticks()) {
        on.line(x.at(tick.value), top, x.at(tick.value), top + size, tick.value == 0 ? "axis" : "grid");
        on.line(left, y.at(tick.value), plot_width - 24, y.at(tick.value), tick.value == 0 ? "axis" : "grid");
        on.text(x.at(tick.value), top + size + 15, tick.text, "m soft");
        on.text(left - 6, y.at(tick.value) + 4, tick.text, "e soft");
    }
    std::string way;
    for (const std::size_t i : thinned(first.size(), most_points))
        way += dot_way(x.at(first[i]), y.at(second[i]), 0);
    on.path(way, "dot2");
    const std::vector<arrow> arrows = arrows_of(components);
    const double unit = (size / 2 - 24) / std::max(arrows.front().length(), 1e-9);
    for (const arrow& a : arrows) {
        const double dx = a.x * unit;
        const double dy = -a.y * unit;
        const double length = std::max(std::hypot(dx, dy), 1e-9);
        if (length < 4) continue;
        const double ux = dx / length * 7;
        const double uy = dy / length * 7;
        const double tip_x = x.at(0) + dx;
        const double tip_y = y.at(0) + dy;
        on.path("M" + coordinate(x.at(0)) + " " + coordinate(y.at(0)) + "L" + coordinate(tip_x) + " " +
                    coordinate(tip_y) + "M" + coordinate(tip_x - ux - uy / 2) + " " +
                    coordinate(tip_y - uy + ux / 2) + "L" + coordinate(tip_x) + " " + coordinate(tip_y) +
                    "L" + coordinate(tip_x - ux + uy / 2) + " " + coordinate(tip_y - uy - ux / 2),
                "arrow", a.name);
    }
    draw_names(on, arrows, x.at(0), y.at(0), unit);
    on.text(8, 16, "component 2 [" + of.words().unit + "], " + percent(components.shares[1]), "soft");
    on.text(plot_width - 24, top + size + 33,
            "component 1 [" + of.words().unit + "], " + percent(components.shares[0]), "e soft");
    plot result{name, title, {}, false, top + size + 44, 0, on.content()};
    result.sentence =
        "The first two components hold " + percent(components.shares[0] + components.shares[1]) +
        " of the variance of " + count(first.size(), "sequence") +
        " in which the treatments are applied one after the other. Component 1 " +
        opposed(components.loadings[0], components.treatments) + "; component 2 " +
        opposed(components.loadings[1], components.treatments) + ". Dots are sequences, arrows treatments.";
    return result;
}

plot scree(study& of) {
    const std::string name = "scree";
    const std::string title = "Scree: how much of the variance each component holds";
    if (!of.sequences().value) return empty_plot(name, title, of.sequences().reason);
    const principal_components& components = of.components();
    if (components.variances.empty() || !(components.variances[0] > 0))
        return empty_plot(name, title, "all sequences are alike");
    const std::size_t n = components.shares.size();
    canvas on;
    constexpr double top = 44;
    constexpr double bottom = 250;
    const double left = 48;
    const double right = plot_width - 24;
    draw_legend(on, 8, 4, {{"good", "share of a component", false}, {"dot1", "sum so far", true}});
    scale y = scale::linear(0, 100, 5);
    y.between(bottom, top);
    for (const scale_tick& tick : y.ticks()) {
        on.line(left, y.at(tick.value), right, y.at(tick.value), "grid");
        on.text(left - 6, y.at(tick.value) + 4, tick.text + " %", "e soft");
    }
    const double slot = (right - left) / static_cast<double>(n);
    double sum = 0;
    std::size_t for_most = 0;
    std::string line;
    std::string marks;
    const auto every = static_cast<std::size_t>(std::ceil(18 / slot));
    for (std::size_t c = 0; c < n; ++c) {
        const double middle = left + slot * (static_cast<double>(c) + 0.5);
        const double height = y.at(components.shares[c] * 100);
        on.rectangle(middle - slot * 0.35, height, slot * 0.7, bottom - height, "good",
                     "component " + std::to_string(c + 1) + ": " + percent(components.shares[c]));
        sum += components.shares[c];
        if (for_most == 0 && sum >= 0.9) for_most = c + 1;
        line += (c == 0 ? "M" : "L") + coordinate(middle) + " " + coordinate(y.at(sum * 100));
        marks += dot_way(middle, y.at(sum * 100), 1);
        if (c % every == 0) on.text(middle, bottom + 16, std::to_string(c + 1), "m soft");
    }
    on.path(line, "arrow");
    on.path(marks, "dot1");
    on.line(left, bottom, right, bottom, "axis");
    on.text(right, bottom + 34, "component", "e soft");
    plot result{name, title, {}, false, bottom + 44, 0, on.content()};
    result.sentence = "The first component holds " + percent(components.shares[0]) + " of the variance of " +
                      count(of.sequences().value->changes.size(), "sequence") +
                      (n > 1 ? ", the second " + percent(components.shares[1]) : std::string()) + "; " +
                      count(for_most, "component") + " of " + std::to_string(n) +
                      (for_most == 1 ? " holds" : " hold") +
                      " 90 %. The last holds nothing, as each sequence's changes have the same sum.";
    return result;
}

}  // namespace lab
