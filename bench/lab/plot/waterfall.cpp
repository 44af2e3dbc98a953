// lab plot: a path from slow to fast as steps of bars
#include "lab/plot/waterfall.hpp"

#include "lab/plot/scale.hpp"
#include "lab/plot/wording.hpp"

#include <algorithm>

namespace lab {

void draw_waterfall(plot& onto, const waterfall& what) {
    constexpr double row_height = 22;
    std::vector<std::string> names{what.start_name};
    double low = std::min(0.0, what.steps.front().before);
    double high = std::max(0.0, what.steps.front().before);
    for (const waterfall_step& step : what.steps) {
        names.push_back(step.name);
        low = std::min(low, step.after);
        high = std::max(high, step.after);
    }
    names.push_back("end");
    double widest = text_width(figure(what.steps.front().before));
    for (const waterfall_step& step : what.steps)
        widest = std::max(
            {widest, text_width(figure(step.after)), text_width("+" + figure(step.after - step.before))});
    const row_labels labels(names);
    canvas on;
    const double left = 8 + labels.width + 10;
    const double top = 6;
    const double bottom = top + row_height * static_cast<double>(names.size());
    scale x = scale::linear(low, high, 4);
    x.between(left, plot_width - 14 - widest);
    double last = -100;
    for (const scale_tick& tick : x.ticks()) {
        const double place = x.at(tick.value);
        on.line(place, top, place, bottom, "grid");
        if (place - last < text_width(tick.text) + 6) continue;
        on.text(place, bottom + 14, tick.text, "m soft");
        last = place;
    }
    const auto row = [&](std::size_t r, double from, double to, const std::string& style,
                         const std::string& text) {
        const double y = top + row_height * static_cast<double>(r);
        const double begin = std::min(x.at(from), x.at(to));
        const double end = std::max(x.at(from), x.at(to));
        on.text(left - 10, y + 15, labels.texts[r], style == "end" ? "e b" : "e", names[r]);
        on.rectangle(begin, y + 4, std::max(end - begin, 1.0), row_height - 8, style, names[r] + ": " + text);
        on.text(end + 5, y + 15, text, "halo");
        if (r + 1 < names.size()) on.line(x.at(to), y + row_height - 4, x.at(to), y + row_height + 4, "join");
    };
    row(0, 0, what.steps.front().before, "end", figure(what.steps.front().before));
    for (std::size_t s = 0; s < what.steps.size(); ++s) {
        const waterfall_step& step = what.steps[s];
        const double change = step.after - step.before;
        const bool helps = what.more_is_better ? change > 0 : change < 0;
        row(s + 1, step.before, step.after, helps ? "good" : "bad", (change > 0 ? "+" : "") + figure(change));
    }
    row(names.size() - 1, 0, what.steps.back().after, "end", figure(what.steps.back().after));
    on.line(x.at(0), top, x.at(0), bottom, "axis");
    on.text(plot_width - 8, bottom + 32, what.axis, "e soft");
    onto.height = bottom + 42;
    onto.content = on.content();
}

}  // namespace lab
