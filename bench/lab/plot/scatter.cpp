// lab plot: points with the diagonal
#include "lab/plot/scatter.hpp"

#include "lab/plot/scale.hpp"
#include "lab/plot/wording.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

constexpr double side = 330;  // approximate length of each axis

void draw_line(canvas& on, const scale& x, const scale& y, const fitted_line& line) {
    // The points where the diagonal enters and leaves.
    double from = x.low();
    double to = x.high();
    if (line.slope != 0) {
        double a = (y.low() - line.intercept) / line.slope;
        double b = (y.high() - line.intercept) / line.slope;
        if (a > b) std::swap(a, b);
        from = std::max(from, a);
        to = std::min(to, b);
    }
    if (!(from < to)) return;
    on.line(x.at(from), y.at(line.intercept + line.slope * from), x.at(to),
            y.at(line.intercept + line.slope * to), "fit");
    if (!line.crosses_at) return;
    const double px = x.at(*line.crosses_at);
    const double py = y.at(*line.crosses_at);
    on.line(px, py, px, y.from(), "mark");
    on.path("M" + coordinate(px - 5) + " " + coordinate(py) + "a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "ring");
    const bool at_right = px > (x.from() + x.to()) / 2;
    on.text(at_right ? px - 8 : px + 8, y.from() - 8, "crosses at " + figure(*line.crosses_at),
            at_right ? "halo e b" : "halo b");
}

}  // namespace

void draw_scatter(plot& onto, const scatter& what) {
    double low = what.points.front().x;
    double high = low;
    for (const scatter_point& p : what.points) {
        low = std::min({low, p.x, p.y});
        high = std::max({high, p.x, p.y});
    }
    // Begins at 0 if that needs little room.
    if (low > 0 && low < 0.4 * high) low = 0;
    canvas on;
    double top = draw_legend(on, 8, 4, what.legend);
    on.text(8, top + 13, what.y_name, "soft");
    top += 24;
    scale y = scale::linear(low, high, 6);
    const double left = 8 + y.width_of_ticks() + 8;
    const double right = std::min(left + side + 40, plot_width - 24);
    const double bottom = top + side;
    y.between(bottom, top);
    scale x = y;
    x.between(left, right);
    for (const scale_tick& tick : y.ticks()) {
        on.line(left, y.at(tick.value), right, y.at(tick.value), "grid");
        on.text(left - 7, y.at(tick.value) + 4, tick.text, "e soft");
        on.line(x.at(tick.value), top, x.at(tick.value), bottom, "grid");
        on.text(x.at(tick.value), bottom + 16, tick.text, "m soft");
    }
    const bool many = what.points.size() > 600;
    std::string ways[2];
    for (const std::size_t i : thinned(what.points.size(), most_points)) {
        const scatter_point& p = what.points[i];
        ways[p.style] += dot_way(x.at(p.x), y.at(p.y), p.style, many);
    }
    on.line(left, bottom, right, top, "dash");
    on.path(ways[0], many ? "dot2" : "dot0");
    on.path(ways[1], many ? "dot1 fine" : "dot1");
    on.path("M" + coordinate(left) + " " + coordinate(top) + "V" + coordinate(bottom) + "H" +
                coordinate(right),
            "axis");
    on.text(right - 6, top + 14, what.diagonal, "halo e soft");
    if (what.line) draw_line(on, x, y, *what.line);
    on.text(right, bottom + 34, what.x_name, "e soft");
    onto.height = bottom + 44;
    onto.content = on.content();
}

}  // namespace lab
