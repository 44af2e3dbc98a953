// weir report, internal: lines over the time of a run, as SVG
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SVG_PLOT_HPP
#define WEIR_REPORT_SVG_PLOT_HPP

#include <weir/report/markup.hpp>
#include <weir/report/plot_axis.hpp>

#include <algorithm>  // for std::any_of, std::max
#include <cmath>      // for std::lround
#include <cstddef>    // for std::size_t
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// So many lines have a colour, a dash and a mark of their own (html_style.hpp).
inline constexpr std::size_t num_line_styles = 12;

struct plot_line {
    std::string label;
    double over_all = no_value;  // the figure of the whole run
    std::vector<double> values;  // one for each of `plot::at`; `no_value`: none. In what was measured
    std::size_t style = num_line_styles;  // that many: thin and grey, with no place in the legend

    [[nodiscard]] bool has_values() const {
        return std::any_of(values.begin(), values.end(), [](double v) { return is_figure(v); });
    }
};

struct plot {
    std::string id;  // no other one of the page has it
    std::string title;
    std::string what;  // a sentence
    plot_axis x;
    plot_axis y;
    std::string y_label;
    std::vector<double> at;  // in the unit of x
    std::vector<plot_line> lines;
};

// Its size, and where in it the lines are drawn. Whole numbers of these are fine enough.
struct plot_frame {
    static constexpr long width = 1440;
    static constexpr long height = 760;
    static constexpr long left = 170;
    static constexpr long right = 1410;
    static constexpr long top = 90;
    static constexpr long bottom = 620;

    static long x(double place) { return left + std::lround(place * (right - left)); }
    static long y(double place) { return bottom - std::lround(place * (bottom - top)); }
};

// The way of a line. Points in a flat stretch are left out; where figures are missing it is interrupted, and
// one that stands alone is a dot. The only point of a plot is as long as the run.
[[nodiscard]] inline std::string path_of(const plot& p, const std::vector<double>& values) {
    if (values.size() == 1 && is_figure(values[0]))
        return "M" + std::to_string(plot_frame::left) + " " +
               std::to_string(plot_frame::y(p.y.place(values[0] / p.y.scale()))) + "H" +
               std::to_string(plot_frame::right);
    std::string path;
    const auto height_at = [&](std::size_t i) { return plot_frame::y(p.y.place(values[i] / p.y.scale())); };
    const auto is_at = [&](std::size_t i) { return i < values.size() && is_figure(values[i]); };
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_at(i)) continue;
        const bool begins = i == 0 || !is_at(i - 1);
        const bool ends = !is_at(i + 1);
        const long y = height_at(i);
        if (!begins && !ends && height_at(i - 1) == y && height_at(i + 1) == y) continue;
        path += (begins ? "M" : " ") + std::to_string(plot_frame::x(p.x.place(p.at[i]))) + " " +
                std::to_string(y);
        if (begins && ends) path += "h0";
    }
    return path;
}

inline void append_axes(std::string& out, const plot& p) {
    using f = plot_frame;
    const auto number = [](long n) { return std::to_string(n); };
    for (const plot_tick& t : p.y.ticks()) {
        const long y = f::y(t.place);
        out += "<path class=\"grid\" d=\"M" + number(f::left) + " " + number(y) + "H" + number(f::right) +
               "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" + number(f::left - 14) + "\" y=\"" +
               number(y + 12) + "\">" + t.text + "</text>\n";
    }
    for (const plot_tick& t : p.x.ticks()) {
        const long x = f::x(t.place);
        out += "<path class=\"axis\" d=\"M" + number(x) + " " + number(f::bottom) +
               "v12\"/><text class=\"tick\" text-anchor=\"middle\" x=\"" + number(x) + "\" y=\"" +
               number(f::bottom + 56) + "\">" + t.text + "</text>\n";
    }
    out += "<path class=\"axis\" d=\"M" + number(f::left) + " " + number(f::top) + "V" + number(f::bottom) +
           "H" + number(f::right) + "\"/>\n<text class=\"name\" x=\"8\" y=\"46\">" + escaped(p.y_label) +
           (p.y.is_logarithmic() ? ", logarithmic" : "") +
           "</text>\n<text class=\"name\" text-anchor=\"end\" x=\"" + number(f::right) + "\" y=\"" +
           number(f::height - 20) + "\">time since the start [" + p.x.unit() + "]</text>\n";
}

// Its line's `data-v` has the figures in the unit of the axis, one a point, empty where there is none.
inline void append_line(std::string& out, const plot& p, const plot_line& line) {
    const bool named = line.style < num_line_styles;
    const std::string style = "s" + (named ? std::to_string(line.style) : "g");
    out += "<g class=\"line " + style + "\" data-s=\"" + std::to_string(line.style) + "\"";
    if (named) {
        out += " data-v=\"";
        for (std::size_t i = 0; i < line.values.size(); ++i) {
            if (i > 0) out += ',';
            if (is_figure(line.values[i])) out += short_number(line.values[i] / p.y.scale());
        }
        out += '"';
    }
    out += "><title>" + escaped(line.label) + "</title><path d=\"" + path_of(p, line.values) + "\"/>";
    const bool only = line.values.size() == 1;
    const double alone = (static_cast<double>(line.style) + 0.5) / static_cast<double>(num_line_styles);
    // A few marks, those of each line elsewhere, so that lines on top of each other are seen.
    const std::size_t every = (std::max<std::size_t>)(line.values.size() / 5, 1);
    for (std::size_t i = every * line.style / num_line_styles; named && i < line.values.size(); i += every) {
        if (!is_figure(line.values[i])) continue;
        out += "<use href=\"#mark" + std::to_string(line.style) + "\" x=\"" +
               std::to_string(plot_frame::x(only ? alone : p.x.place(p.at[i]))) + "\" y=\"" +
               std::to_string(plot_frame::y(p.y.place(line.values[i] / p.y.scale()))) + "\"/>";
    }
    out += "</g>\n";
}

inline void append_svg(std::string& out, const plot& p) {
    out += "<svg class=\"plot\" role=\"img\" aria-labelledby=\"" + p.id + "-t " + p.id +
           "-d\" viewBox=\"0 0 " + std::to_string(plot_frame::width) + " " +
           std::to_string(plot_frame::height) + "\" xmlns=\"http://www.w3.org/2000/svg\" data-x=\"";
    for (std::size_t i = 0; i < p.at.size(); ++i)
        out += (i > 0 ? "," : "") + std::to_string(plot_frame::x(p.x.place(p.at[i])));
    out += "\" data-u=\"" + std::string(p.y.unit()) + "\">\n<title id=\"" + p.id + "-t\">" +
           escaped(p.title) + "</title><desc id=\"" + p.id + "-d\">" + escaped(p.what) + "</desc>\n";
    append_axes(out, p);
    for (const plot_line& line : p.lines) {
        if (line.style >= num_line_styles && line.has_values()) append_line(out, p, line);
    }
    for (const plot_line& line : p.lines) {
        if (line.style < num_line_styles) append_line(out, p, line);
    }
    out += "<path class=\"cursor\" d=\"\"/>\n</svg>\n";
}

}  // namespace weir::detail

#endif
