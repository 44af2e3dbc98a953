// weir report, internal: parts of a page: HTML and SVG markup from patterns, figures as text, tables, plots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_MARKUP_HPP
#define WEIR_REPORT_HTML_MARKUP_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/escape.hpp>

#include <algorithm>    // for std::max, std::min, std::ranges::any_of
#include <charconv>     // for std::to_chars
#include <cmath>        // for std::log10, std::lround
#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

// Text that `fill_in` inserts without escaping, because it is HTML or SVG already.
struct markup {
    std::string text;
};

inline void append_argument(std::string& out, std::string_view text) { out += escaped(text); }
inline void append_argument(std::string& out, const markup& m) { out += m.text; }
inline void append_argument(std::string& out, std::integral auto n) { out += std::to_string(n); }

// Appends the pattern; each `{}` is replaced by the next argument. Arguments are escaped, except `markup`.
template <class... Arguments>
void fill_in(std::string& out, std::string_view pattern, const Arguments&... arguments) {
    [[maybe_unused]] const auto insert = [&](const auto& argument) {
        const std::size_t place = pattern.find("{}");
        out += pattern.substr(0, place);
        append_argument(out, argument);
        pattern.remove_prefix(place + 2);
    };
    (insert(arguments), ...);
    out += pattern;
}
template <class... Arguments>
[[nodiscard]] markup filled(std::string_view pattern, const Arguments&... arguments) {
    markup m;
    fill_in(m.text, pattern, arguments...);
    return m;
}

// \returns the number with at most six significant digits: for coordinates, and for figures that the page's
//          script reads.
[[nodiscard]] inline std::string short_number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 6);
    return std::string(text, end.ptr);
}

// \returns `units::time` with `µs` instead of `us`.
[[nodiscard]] inline std::string time_markup(duration d) {
    std::string text = units::time(d);
    if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "µ");
    return text;
}

// What a figure (a number of a page) measures: nanoseconds, a number of things, things per second, a share
// from 0 to 1.
enum class figure_kind { time, count, rate, share };

// Stands for a missing figure. All figures are 0 or more. Not NaN, because code that is compiled with
// -ffast-math cannot tell NaN from numbers.
inline constexpr double no_value = -1;
[[nodiscard]] constexpr bool is_figure(double value) noexcept { return value >= 0; }

// \returns the figure with its unit, which a count lacks: `2.7 ms`; a dash for `no_value`.
[[nodiscard]] std::string figure_text(figure_kind kind, double value);

// A table of a page. If a table is wider than the screen, only the table scrolls, not the page.
class html_table {
  public:
    // `text`, `long_text`: left-aligned, and may have several lines; `long_text` has a wider column.
    enum class align { right, left, text, long_text };
    struct column {
        std::string heading;
        align as = align::right;
    };

    html_table(std::string caption, std::vector<column> columns)
        : caption_(std::move(caption)), columns_(std::move(columns)) {}

    // Adds a row. The first cell is the heading of the row.
    void add(const std::vector<std::string>& texts);
    // Adds a cell to the last row.
    void add_markup(const markup& cell) {
        rows_.insert(rows_.size() - std::string_view("</tr>\n").size(), "<td>" + cell.text + "</td>");
    }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

    void append_to(std::string& out) const;

  private:
    std::string caption_;
    std::vector<column> columns_;
    std::string rows_;
};

// A tick of an axis, and its label.
struct plot_tick {
    double place = 0;  // from 0, the beginning of the axis, to 1, its end
    std::string text;
};

// A unit in which figures are shown, and its size in the unit of their `figure_kind`: 1e6 and "ms" for times,
// which are in nanoseconds.
struct plot_unit {
    double scale;
    const char* name;
};

// An axis with ticks, which begins at 0 or is logarithmic. The functions that make an axis take figures in
// the unit of their `figure_kind`.
class plot_axis {
  public:
    // From 0 up, in at most `most_steps` steps of 1, 2 or 5 times a power of ten.
    [[nodiscard]] static plot_axis linear(figure_kind kind, double greatest, double most_steps = 5);
    // From 0 to exactly the greatest figure.
    [[nodiscard]] static plot_axis of_length(figure_kind kind, double greatest);
    // In decades; if `zero`, the figure 0 has a place of its own below the lowest decade.
    [[nodiscard]] static plot_axis logarithmic(figure_kind kind, double least, double greatest, bool zero);
    // An axis for several series. `over_all[i]`: the figure of series `i` for all laps (parts of the run)
    // together. The axis is logarithmic if a figure of a series is more than 50 times the greatest of
    // `over_all`; with `by_differences`, also if the positive figures in `over_all` differ by more than a
    // factor of 50. The axis is linear for shares, to 1, and if `over_all` has no positive figure.
    [[nodiscard]] static plot_axis fitting(figure_kind kind, const std::vector<std::vector<double>>& series,
                                           const std::vector<double>& over_all, bool by_differences);

    // The size of the axis' unit, in the unit of the `figure_kind`.
    [[nodiscard]] double scale() const noexcept { return unit_.scale; }
    [[nodiscard]] const char* unit() const noexcept { return unit_.name; }
    [[nodiscard]] bool is_logarithmic() const noexcept { return logarithmic_; }
    [[nodiscard]] const std::vector<plot_tick>& ticks() const noexcept { return ticks_; }

    // \returns the place of a figure (in the axis' unit) on the axis, from 0 to 1. A figure beyond an end of
    //          the axis is placed at this end.
    [[nodiscard]] double place(double value) const noexcept {
        double at = value / greatest_;
        if (logarithmic_) {
            if (value <= 0) return 0;
            at = below_ + (1 - below_) * std::log10(value / least_) / std::log10(greatest_ / least_);
        }
        return (std::min)((std::max)(at, 0.0), 1.0);
    }

  private:
    explicit plot_axis(plot_unit unit) : unit_(unit) {}

    // \returns the label of a decade, with its own unit.
    static std::string text_of(figure_kind kind, double value);

    plot_unit unit_;
    bool logarithmic_ = false;
    double least_ = 0;  // in the axis' unit, as `greatest_`
    double greatest_ = 1;
    double below_ = 0;  // logarithmic: the share of the axis that is left for the figure 0
    std::vector<plot_tick> ticks_;
};

// The number of line styles of a plot: each has a mark of its own. Styles of the same colour differ in their
// dashes (html_style.hpp).
inline constexpr std::size_t num_line_styles = 12;

// A line of a plot: the figures of a stage or queue over the time of the run.
struct plot_line {
    std::string label;
    double over_all = no_value;  // the figure of the whole run
    std::vector<double> values;  // at each of `plot::at`, in the unit of the `figure_kind`; or `no_value`
    std::size_t style = num_line_styles;  // `num_line_styles`: thin and grey, and not in the legend

    [[nodiscard]] bool has_values() const { return std::ranges::any_of(values, is_figure); }
};

// A plot over the time of a run.
struct plot {
    std::string id;  // unique on the page
    std::string title;
    std::string description;  // a sentence that describes the lines
    plot_axis x;
    plot_axis y;
    std::string y_label;
    std::vector<double> at;  // the times of the lines' points, in the unit of the x axis
    std::vector<plot_line> lines;

    // The size of a plot, and the area of its lines, in whole SVG units.
    static constexpr long width = 1440;
    static constexpr long height = 760;
    static constexpr long left = 170;
    static constexpr long right = 1410;
    static constexpr long top = 90;
    static constexpr long bottom = 620;

    [[nodiscard]] static long x_of(double place) { return left + std::lround(place * (right - left)); }
    [[nodiscard]] static long y_of(double place) { return bottom - std::lround(place * (bottom - top)); }
    [[nodiscard]] long x_at(std::size_t i) const { return x_of(x.place(at[i])); }
    [[nodiscard]] long y_at(double value) const { return y_of(y.place(value / y.scale())); }
};

// \returns the path of a line, for an SVG `path`. A point as high as both its neighbours is left out. Missing
//          values interrupt the line; a value without a value before and behind it is a dot. If the plot has
//          only one point, the line is as wide as the plot.
[[nodiscard]] std::string path_of(const plot& p, const std::vector<double>& values);

void append_svg(std::string& out, const plot& p);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html_markup.ipp>
#endif

#endif
