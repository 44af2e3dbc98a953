// lab plot: horizontal bars about 0
#include "lab/plot/bars.hpp"

#include "lab/plot/scale.hpp"
#include "lab/plot/wording.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

struct bounds {
    double low = 0;
    double high = 0;
    bool cut = false;
};

bounds bounds_of(const bar_chart& chart) {
    double longest = 0;
    for (const bar_row& row : chart.rows)
        for (const bar& b : row.bars)
            if (std::isfinite(b.value)) longest = std::max(longest, std::abs(b.value));
    bounds result;
    for (const bar_row& row : chart.rows) {
        for (const bar& b : row.bars) {
            for (const double end : {b.value, b.low, b.high}) {
                if (!std::isfinite(end)) continue;
                const double within = longest > 0 ? std::clamp(end, -2 * longest, 2 * longest) : end;
                result.cut = result.cut || within != end;
                result.low = std::min(result.low, within);
                result.high = std::max(result.high, within);
            }
        }
    }
    return result;
}

void draw_whisker(canvas& on, const scale& x, const bar& b, double y) {
    if (!std::isfinite(b.low) || !std::isfinite(b.high)) return;
    const double left = x.at(b.low);
    const double right = x.at(b.high);
    std::string way = "M" + coordinate(left) + " " + coordinate(y) + "H" + coordinate(right);
    for (const auto& [end, place] : {std::pair(b.low, left), std::pair(b.high, right)})
        if (end >= x.low() && end <= x.high())
            way += "M" + coordinate(place) + " " + coordinate(y - 3) + "v6";
    on.path(way, "whisker");
}

}  // namespace

bool draw_bars(plot& onto, const bar_chart& chart) {
    canvas on;
    const std::size_t series = chart.series.size();
    double top = 4;
    if (series > 1) {
        std::vector<legend_entry> legend;
        for (std::size_t s = 0; s < series; ++s)
            legend.push_back({"s" + std::to_string(s), chart.series[s], false});
        top = draw_legend(on, 8, top, legend);
    }
    std::vector<std::string> names;
    double note_width = text_width(chart.note);
    for (const bar_row& row : chart.rows) {
        names.push_back(row.name);
        note_width = std::max(note_width, text_width(row.note));
    }
    const row_labels labels(names);
    const double left = 8 + labels.width + 10;
    const double right = plot_width - (note_width > 0 ? note_width + 22 : 24);
    const bounds ends = bounds_of(chart);
    scale x = scale::linear(ends.low, ends.high, 4);
    x.between(left, right);
    if (!chart.note.empty()) {
        on.text(plot_width - 8, top + 12, chart.note, "e soft");
        top += 17;
    }
    const double bar_height = series > 1 ? 9 : 13;
    const double row_height = bar_height * static_cast<double>(std::max<std::size_t>(series, 1)) + 9;
    const double bottom = top + row_height * static_cast<double>(chart.rows.size()) + 4;
    double last = -100;
    for (const scale_tick& tick : x.ticks()) {
        const double place = x.at(tick.value);
        on.line(place, top, place, bottom, "grid");
        if (place - last < text_width(tick.text) + 6) continue;
        on.text(place, bottom + 14, tick.text, "m soft");
        last = place;
    }
    double y = top + 6;
    for (std::size_t r = 0; r < chart.rows.size(); ++r, y += row_height) {
        const bar_row& row = chart.rows[r];
        const double middle = y + (row_height - 9) / 2;
        on.text(left - 10, middle + 4, labels.texts[r], "e", row.name);
        if (!row.note.empty()) on.text(plot_width - 8, middle + 4, row.note, "e soft");
        for (std::size_t s = 0; s < row.bars.size(); ++s) {
            const bar& b = row.bars[s];
            if (!std::isfinite(b.value)) continue;
            const bool helps = chart.more_is_better ? b.value > 0 : b.value < 0;
            const std::string style = series > 1 ? "s" + std::to_string(s) : helps ? "good" : "bad";
            const double begin = x.at(std::min(b.value, 0.0));
            const double bar_top = y + bar_height * static_cast<double>(s);
            on.rectangle(begin, bar_top, std::max(x.at(std::max(b.value, 0.0)) - begin, 0.8), bar_height - 1,
                         style, row.name + ": " + figure(b.value));
            draw_whisker(on, x, b, bar_top + (bar_height - 1) / 2);
        }
    }
    on.line(x.at(0), top, x.at(0), bottom, "axis");
    on.text(plot_width - 8, bottom + 32, chart.axis, "e soft");
    onto.height = bottom + 42;
    onto.content = on.content();
    return ends.cut;
}

}  // namespace lab
