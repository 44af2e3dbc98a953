// weir report, internal: bodies of the functions of report/html_markup.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_MARKUP_IPP
#define WEIR_REPORT_HTML_MARKUP_IPP

#include <weir/report/html_markup.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max, std::min
#include <cmath>      // for std::ceil, std::floor, std::log10, std::pow
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <utility>    // for std::move

namespace weir::detail {

WEIR_INLINE std::string figure_text(figure_kind kind, double value) {
    if (!is_figure(value)) return "–";
    const double whole = std::floor(smaller(larger(value, 0.0), 9.2e18) + 0.5);  // a count, or nanoseconds
    switch (kind) {
        case figure_kind::time:
            return time_markup(duration(static_cast<std::int64_t>(whole)));
        case figure_kind::rate:
            return units::rate(value);
        case figure_kind::share:
            return units::percent(value);
        case figure_kind::count:
            break;
    }
    return value < 100 && value > std::floor(value) ? units::fixed(value, 1)
                                                    : units::count(static_cast<std::uint64_t>(whole), 7);
}

WEIR_INLINE void html_table::add(const std::vector<std::string>& texts) {
    static constexpr const char* cells[] = {"<td>{}</td>", "<td class=\"l\">{}</td>",
                                            "<td class=\"t\">{}</td>", "<td class=\"t long\">{}</td>"};
    fill_in(rows_, "<tr><th>{}</th>", texts[0]);
    for (std::size_t i = 1; i < texts.size(); ++i)
        fill_in(rows_, cells[static_cast<std::size_t>(columns_[i].as)], texts[i]);
    rows_ += "</tr>\n";
}

WEIR_INLINE void html_table::append_to(std::string& out) const {
    fill_in(out, R"(<div class="scroll" role="region" aria-label="{}"><table><caption>{}</caption>)",
            caption_, caption_);
    out += "\n<thead><tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool left = i == 0 || columns_[i].as != align::right;
        fill_in(out, left ? R"(<th scope="col" class="l">{}</th>)" : R"(<th scope="col">{}</th>)",
                columns_[i].heading);
    }
    out += "</tr></thead>\n<tbody>" + rows_ + "</tbody></table></div>\n";
}

// \returns the units in which figures of this kind are shown, the smallest first.
inline std::vector<plot_unit> units_of(figure_kind kind) {
    switch (kind) {
        case figure_kind::time:
            return {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {6e11, "min"}, {3.6e13, "h"}};
        case figure_kind::share:
            return {{0.01, "%"}};
        case figure_kind::rate:
            return {{1, "/s"}, {1e4, "k/s"}, {1e7, "M/s"}, {1e10, "G/s"}};
        case figure_kind::count:
            break;
    }
    return {{1, ""}, {1e4, "k"}, {1e7, "M"}, {1e10, "G"}};
}

// \returns the unit for an axis that ends at `greatest`. Minutes are taken from ten minutes on, hours from
//          ten hours, thousands from ten thousand: `units_of` has ten times the scale for these units.
inline plot_unit unit_for(figure_kind kind, double greatest) {
    const std::vector<plot_unit> all = units_of(kind);
    std::size_t i = 0;
    while (i + 1 < all.size() && greatest >= all[i + 1].scale) ++i;
    plot_unit chosen = all[i];
    if (kind == figure_kind::share) return chosen;
    const bool long_time = kind == figure_kind::time && chosen.scale > 1e9;
    if (long_time || (kind != figure_kind::time && i > 0)) chosen.scale /= 10;
    return chosen;
}

WEIR_INLINE plot_axis plot_axis::linear(figure_kind kind, double greatest, double most_steps) {
    plot_axis axis(unit_for(kind, greatest));
    const double top = greatest > 0 ? greatest / axis.unit_.scale : 1;
    double step = std::pow(10.0, std::floor(std::log10(top / most_steps)));
    for (const double factor : {2.0, 2.5, 2.0}) {
        if (top / step > most_steps + 1e-9) step *= factor;
    }
    axis.greatest_ = std::ceil(top / step - 1e-9) * step;
    for (double n = 0; n * step <= axis.greatest_ * (1 + 1e-9); ++n)
        axis.ticks_.push_back({n * step / axis.greatest_, short_number(n * step)});
    return axis;
}

WEIR_INLINE plot_axis plot_axis::of_length(figure_kind kind, double greatest) {
    plot_axis axis = linear(kind, greatest, 6);
    if (greatest <= 0) return axis;
    const double longer = axis.greatest_;
    axis.greatest_ = greatest / axis.unit_.scale;
    std::vector<plot_tick> ticks;
    for (plot_tick& t : axis.ticks_) {
        t.place *= longer / axis.greatest_;
        if (t.place <= 1 + 1e-9) ticks.push_back(std::move(t));
    }
    axis.ticks_ = std::move(ticks);
    return axis;
}

WEIR_INLINE plot_axis plot_axis::logarithmic(figure_kind kind, double least, double greatest, bool zero) {
    plot_axis axis(unit_for(kind, greatest));
    axis.logarithmic_ = true;
    axis.below_ = zero ? 0.09 : 0;
    const double first = std::floor(std::log10(least) + 1e-9);
    const double last = (std::max)(std::ceil(std::log10(greatest) - 1e-9), first + 1);
    axis.least_ = std::pow(10.0, first) / axis.unit_.scale;
    axis.greatest_ = std::pow(10.0, last) / axis.unit_.scale;
    if (zero) axis.ticks_.push_back({0, "0"});
    const double decades_per_tick = std::ceil((last - first) / 6);
    for (double decade = first; decade <= last; decade += decades_per_tick) {
        const double value = std::pow(10.0, decade);
        axis.ticks_.push_back({axis.place(value / axis.unit_.scale), text_of(kind, value)});
    }
    return axis;
}

WEIR_INLINE plot_axis plot_axis::fitting(figure_kind kind, const std::vector<std::vector<double>>& series,
                                         const std::vector<double>& over_all, bool by_differences) {
    if (kind == figure_kind::share) return linear(kind, 1);
    double least = 0;
    double greatest = 0;
    bool zero = false;
    for (const auto& each : series) {
        for (const double v : each) {
            if (v > 0) least = least > 0 ? (std::min)(least, v) : v;
            greatest = (std::max)(v, greatest);
            zero = zero || are_equal(v, 0);
        }
    }
    double low = 0;
    double high = 0;
    for (const double v : over_all) {
        if (v > 0) low = low > 0 ? (std::min)(low, v) : v;
        high = (std::max)(v, high);
    }
    const bool wide = (by_differences && high > 50 * low) || greatest > 50 * high;
    return wide && low > 0 ? logarithmic(kind, least, greatest, zero) : linear(kind, greatest);
}

WEIR_INLINE std::string plot_axis::text_of(figure_kind kind, double value) {
    plot_unit fit{1, kind == figure_kind::rate ? "/s" : ""};
    if (kind == figure_kind::time) {
        fit = value >= 1e9 ? plot_unit{1e9, "s"} : unit_for(kind, value);
    } else if (value >= 1e3) {
        const bool million = value >= 1e6;
        const bool rate = kind == figure_kind::rate;
        fit = {million ? 1e6 : 1e3, million ? (rate ? "M/s" : "M") : (rate ? "k/s" : "k")};
    }
    const std::string number = short_number(value / fit.scale);
    return *fit.name == '\0' ? number : number + " " + fit.name;
}

WEIR_INLINE std::string path_of(const plot& p, const std::vector<double>& values) {
    if (values.size() == 1 && is_figure(values[0]))
        return filled("M{} {}H{}", plot::left, p.y_at(values[0]), plot::right).text;
    std::string path;
    const auto is_at = [&](std::size_t i) { return i < values.size() && is_figure(values[i]); };
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_at(i)) continue;
        const bool begins = i == 0 || !is_at(i - 1);
        const bool ends = !is_at(i + 1);
        const long y = p.y_at(values[i]);
        if (!begins && !ends && p.y_at(values[i - 1]) == y && p.y_at(values[i + 1]) == y) continue;
        fill_in(path, begins ? "M{} {}" : " {} {}", p.x_at(i), y);
        if (begins && ends) path += "h0";
    }
    return path;
}

inline void append_axes(std::string& out, const plot& p) {
    for (const plot_tick& t : p.y.ticks()) {
        const long y = plot::y_of(t.place);
        fill_in(
            out,
            R"(<path class="grid" d="M{} {}H{}"/><text class="tick" text-anchor="end" x="{}" y="{}">{}</text>
)",
            plot::left, y, plot::right, plot::left - 14, y + 12, t.text);
    }
    for (const plot_tick& t : p.x.ticks()) {
        const long x = plot::x_of(t.place);
        fill_in(
            out,
            R"(<path class="axis" d="M{} {}v12"/><text class="tick" text-anchor="middle" x="{}" y="{}">{})"
            "</text>\n",
            x, plot::bottom, x, plot::bottom + 56, t.text);
    }
    fill_in(out, R"(<path class="axis" d="M{} {}V{}H{}"/>
<text class="name" x="8" y="46">{}{}</text>
<text class="name" text-anchor="end" x="{}" y="{}">time since the start [{}]</text>
)",
            plot::left, plot::top, plot::bottom, plot::right, p.y_label,
            p.y.is_logarithmic() ? ", logarithmic" : "", plot::right, plot::height - 20, p.x.unit());
}

// Appends a line. A line that is in the legend has its values in the attribute `data-v`, for the script of
// the page: separated by commas, in the unit of the y axis. A missing value is an empty text.
inline void append_line(std::string& out, const plot& p, const plot_line& line) {
    const bool named = line.style < num_line_styles;
    fill_in(out, R"(<g class="line s{}" data-s="{}")", named ? std::to_string(line.style) : "g", line.style);
    if (named) {
        out += " data-v=\"";
        for (std::size_t i = 0; i < line.values.size(); ++i) {
            if (i > 0) out += ',';
            if (is_figure(line.values[i])) out += short_number(line.values[i] / p.y.scale());
        }
        out += '"';
    }
    fill_in(out, R"(><title>{}</title><path d="{}"/>)", line.label, path_of(p, line.values));
    const bool only = line.values.size() == 1;
    const double alone = (static_cast<double>(line.style) + 0.5) / static_cast<double>(num_line_styles);
    // Each line has a few marks, at other points than the other lines, so that lines on top of each other
    // are seen.
    const std::size_t points_per_mark = (std::max<std::size_t>)(line.values.size() / 5, 1);
    for (std::size_t i = points_per_mark * line.style / num_line_styles; named && i < line.values.size();
         i += points_per_mark) {
        if (!is_figure(line.values[i])) continue;
        fill_in(out, R"(<use href="#mark{}" x="{}" y="{}"/>)", line.style,
                only ? plot::x_of(alone) : p.x_at(i), p.y_at(line.values[i]));
    }
    out += "</g>\n";
}

WEIR_INLINE void append_svg(std::string& out, const plot& p) {
    fill_in(out,
            R"(<svg class="plot" role="img" aria-labelledby="{}-t {}-d" viewBox="0 0 {} {}" )"
            R"(xmlns="http://www.w3.org/2000/svg" data-x=")",
            p.id, p.id, plot::width, plot::height);
    for (std::size_t i = 0; i < p.at.size(); ++i) fill_in(out, i > 0 ? ",{}" : "{}", p.x_at(i));
    fill_in(out, R"(" data-u="{}">
<title id="{}-t">{}</title><desc id="{}-d">{}</desc>
)",
            p.y.unit(), p.id, p.title, p.id, p.description);
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
