// lab plot: each treatment's deltas as coloured strips, from slow to fast
#include "lab/plot/strips.hpp"

#include "lab/plot/scale.hpp"
#include "lab/plot/style.hpp"
#include "lab/plot/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lab {

double colour_limit(const std::vector<strip_row>& rows) {
    std::vector<double> sizes;
    for (const strip_row& row : rows)
        for (const strip& s : row.strips) sizes.push_back(std::abs(s.log2));
    if (sizes.empty()) return 0;
    const auto at = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) * 95 / 100);
    std::nth_element(sizes.begin(), at, sizes.end());
    return *at > 0 ? *at : *std::max_element(sizes.begin(), sizes.end());
}

void draw_strips(plot& onto, const strip_chart& chart) {
    constexpr double row_height = 20;
    const double limit = colour_limit(chart.rows);
    std::vector<std::string> names;
    std::vector<double> befores;
    std::vector<std::pair<std::size_t, strip>> all;
    for (std::size_t r = 0; r < chart.rows.size(); ++r) {
        names.push_back(chart.rows[r].name);
        for (const strip& s : chart.rows[r].strips) {
            all.emplace_back(r, s);
            befores.push_back(s.before);
        }
    }
    const auto [least, most] = std::minmax_element(befores.begin(), befores.end());
    const bool wide = *most > 6 * *least;
    scale x = wide ? scale::logarithmic(*least, *most) : scale::linear(*least, *most, 4);
    const row_labels labels(names);
    canvas on;
    const double left = 8 + labels.width + 10;
    const double right = plot_width - 24;
    x.between(chart.more_is_better ? left : right, chart.more_is_better ? right : left);
    const double top = draw_colour_bar(on, 8, 6, limit, "log2(after / before)") + 4;
    const double bottom = top + row_height * static_cast<double>(names.size());
    std::vector<double> taken;
    for (const scale_tick& tick : x.ticks()) {
        const double place = x.at(tick.value);
        on.line(place, top, place, bottom, "grid");
        const double room = text_width(tick.text) + 8;
        const bool free = std::all_of(taken.begin(), taken.end(),
                                      [&](double other) { return std::abs(other - place) > room; });
        if (!free) continue;
        on.text(place, bottom + 14, tick.text, "m soft");
        taken.push_back(place);
    }
    std::map<std::pair<std::size_t, std::string>, std::string> ways;  // paths by row and colour
    for (const std::size_t i : thinned(all.size(), most_points)) {
        const auto& [r, s] = all[i];
        const double share = limit > 0 ? s.log2 / limit : 0;
        ways[{r, level_style(share)}] += "M" + coordinate(x.at(s.before)) + " " +
                                         coordinate(top + row_height * static_cast<double>(r) + 3) + "v" +
                                         coordinate(row_height - 6);
    }
    for (const auto& [key, way] : ways) on.path(way, key.second + " strip");
    for (std::size_t r = 0; r < names.size(); ++r)
        on.text(left - 10, top + row_height * static_cast<double>(r) + 14, labels.texts[r], "e", names[r]);
    on.line(left, bottom, right, bottom, "axis");
    on.text(left, bottom + 32, "← slow", "soft");
    on.text(right, bottom + 32, chart.axis + " → fast", "e soft");
    onto.height = bottom + 42;
    onto.content = on.content();
}

}  // namespace lab
