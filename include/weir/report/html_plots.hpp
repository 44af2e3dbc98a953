// weir report, internal: the six plots of a run, each with its legend, its reading guide and its table
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_PLOTS_HPP
#define WEIR_REPORT_HTML_PLOTS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/markup.hpp>
#include <weir/report/plot_axis.hpp>
#include <weir/report/quantity.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/svg_plot.hpp>

#include <algorithm>  // for std::sort
#include <cmath>      // for std::floor
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// A figure in the unit that fits it.
[[nodiscard]] inline std::string figure_text(figure_kind what, double value) {
    if (!is_figure(value)) return "–";
    const double whole =
        std::floor(smaller(larger(value, 0.0), 9.2e18) + 0.5);  // of a count, or of nanoseconds
    switch (what) {
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

class html_plots {
  public:
    // With at most so many points a line.
    html_plots(const run_view& view, std::size_t most_points)
        : view_(view), points_(view.parts(most_points)),
          columns_(view.parts(view.num_stages() > 24 ? 4 : 10)),
          x_(plot_axis::of_length(figure_kind::time, to_double(view.laps().start_of(view.num_drawn())))) {}

    [[nodiscard]] std::size_t num_points() const noexcept { return points_.size(); }
    [[nodiscard]] const char* unit() const noexcept { return x_.unit(); }
    // Where each point begins, and where the last one ends.
    [[nodiscard]] std::string bounds() const {
        std::string text;
        for (const lap_range& p : points_)
            text += short_number(in_unit(view_.laps().start_of(p.begin))) + ",";
        return text + short_number(in_unit(view_.laps().start_of(view_.num_drawn())));
    }

    void append_to(std::string& out) const {
        out += "<div class=\"plots\">\n";
        for (std::size_t i = 0; i < all_.size(); ++i) append(out, i);
        out += "</div>\n";
    }

  private:
    static double to_double(duration d) { return static_cast<double>(d.count()); }
    [[nodiscard]] double in_unit(duration d) const { return to_double(d) / x_.scale(); }
    [[nodiscard]] std::size_t count_of(const quantity& q) const {
        return q.of_stage != nullptr ? view_.num_stages() : view_.num_channels();
    }
    [[nodiscard]] double over_all(const quantity& q, std::size_t i) const {
        const pipeline_stats& all = view_.run().total;
        return (q.of_stage != nullptr ? q.of_stage(all.stages[i]) : q.of_queue(all.channels[i])).value();
    }

    [[nodiscard]] plot plot_of(std::size_t which) const {
        const quantity& q = all_[which];
        std::vector<plot_line> lines;
        std::vector<std::vector<double>> all;
        std::vector<double> totals;
        for (std::size_t i = 0; i < count_of(q); ++i) {
            plot_line line;
            line.label = q.of_stage != nullptr ? view_.stage(i) : view_.channel(i);
            line.over_all = over_all(q, i);
            for (const lap_range& p : points_)
                line.values.push_back(view_.laps().value(which, i, p.begin, p.end));
            all.push_back(line.values);
            // Tasks are counted a lap: those of the whole run are no figure of this axis.
            totals.push_back(view_.laps().value(which, i, 0, view_.num_drawn()));
            lines.push_back(std::move(line));
        }
        give_styles(q, lines, totals);
        plot_axis y = plot_axis::fitting(q.what, all, totals, q.by_differences);
        // Of a logarithmic axis each tick has its unit.
        const bool unit = *y.unit() != '\0' && !y.is_logarithmic();
        std::string label = std::string(q.label) + (unit ? " [" + std::string(y.unit()) + "]" : "");
        plot p{q.id, q.title,         std::string(q.meaning) + " " + words_of(q, lines),
               x_,   std::move(y),    std::move(label),
               {},   std::move(lines)};
        for (const lap_range& each : points_)
            p.at.push_back(
                (in_unit(view_.laps().start_of(each.begin)) + in_unit(view_.laps().start_of(each.end))) / 2);
        return p;
    }
    static void give_styles(const quantity& q, std::vector<plot_line>& lines,
                            const std::vector<double>& totals) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (lines[i].has_values()) order.push_back(i);
        }
        if (order.size() > num_line_styles) {
            std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                if (are_equal(totals[a], totals[b])) return a < b;
                return q.high_is_notable ? totals[a] > totals[b] : totals[a] < totals[b];
            });
            order.resize(8);  // more than that nobody tells apart
        }
        std::sort(order.begin(), order.end());
        for (std::size_t k = 0; k < order.size(); ++k) lines[order[k]].style = k;
    }
    // What the lines show, for those who don't see them.
    static std::string words_of(const quantity& q, const std::vector<plot_line>& lines) {
        std::string text = "Over the whole run: ";
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i == num_line_styles)
                return text + ", and " + std::to_string(lines.size() - i) + " more; all are in the table.";
            text += (i == 0 ? "" : ", ") + lines[i].label + " " + figure_text(q.what, lines[i].over_all);
        }
        return lines.empty() ? "There is nothing to show." : text + ".";
    }

    void append(std::string& out, std::size_t which) const {
        const quantity& q = all_[which];
        const plot p = plot_of(which);
        out += "<article aria-labelledby=\"" + p.id + "-h\"><h3 id=\"" + p.id + "-h\">" + p.title +
               "</h3>\n<p>" + q.meaning + "</p>\n<figure>\n";
        append_svg(out, p);
        append_legend(out, q, p);
        const std::string last = std::to_string(points_.size() - 1);
        out += "<label class=\"when" + std::string(points_.size() == 1 ? " alone" : "") +
               "\">At <input type=\"range\" min=\"0\" max=\"" + last + "\" value=\"" + last +
               "\" aria-label=\"" + p.title +
               ": which lap\"/><output>whole run</output></label>\n</figure>\n" + "<ul class=\"guide\">\n";
        for (const char* const sentence : q.guide) out += "<li>" + std::string(sentence) + "</li>\n";
        out += "</ul>\n";
        append_table(out, which, p);
        out += "</article>\n";
    }
    static void append_legend(std::string& out, const quantity& q, const plot& p) {
        out += "<ul class=\"legend\" aria-label=\"Lines, and their figures\">\n";
        std::size_t others = 0;   // grey
        std::size_t unnamed = 0;  // those, and those without figures
        for (const plot_line& line : p.lines) {
            if (line.style >= num_line_styles) {
                others += line.has_values() ? 1U : 0U;
                ++unnamed;
                continue;
            }
            const std::string style = std::to_string(line.style);
            const std::string value = figure_text(q.what, line.over_all);
            out += "<li><button type=\"button\" data-s=\"" + style + "\"><svg class=\"key s" + style +
                   "\" viewBox=\"0 0 138 48\" aria-hidden=\"true\"><path d=\"M6 24H132\"/><use href=\"#mark" +
                   style + "\" x=\"69\" y=\"24\"/></svg><bdi>" + escaped(line.label) +
                   "</bdi> <span class=\"v\" data-whole=\"" + value + "\">" + value +
                   "</span></button></li>\n";
        }
        out += "</ul>\n";
        if (others == 0) return;
        out += "<p class=\"soft\">" + std::string("Named are the ") +
               std::to_string(p.lines.size() - unnamed) + " with the " +
               (q.high_is_notable ? "highest" : "lowest") + " figures; the other " + std::to_string(others) +
               " are grey, and in the table.</p>\n";
    }
    void append_table(std::string& out, std::size_t which, const plot& p) const {
        const quantity& q = all_[which];
        const bool stages = q.of_stage != nullptr;
        out += "<details class=\"data\"><summary>" + p.title +
               " as a table</summary><div class=\"scroll\" role=\"region\" "
               "aria-label=\"" +
               p.title + ", table\"><table><caption>" + p.title +
               ", of the whole run and of parts of it, from … to … " + x_.unit() +
               "</caption>\n<thead><tr><th class=\"l\" scope=\"col\">" + (stages ? "stage" : "queue behind") +
               "</th><th scope=\"col\">whole run</th>";
        for (const lap_range& c : columns_) {
            out += "<th scope=\"col\">" + short_number(in_unit(view_.laps().start_of(c.begin))) + "–" +
                   short_number(in_unit(view_.laps().start_of(c.end))) + "</th>";
        }
        out += "</tr></thead>\n<tbody>";
        for (std::size_t i = 0; i < p.lines.size(); ++i) {
            out += "<tr><th>" + escaped(p.lines[i].label) + "</th><td>" +
                   figure_text(q.what, p.lines[i].over_all) + "</td>";
            for (const lap_range& c : columns_)
                out += "<td>" + figure_text(q.what, view_.laps().value(which, i, c.begin, c.end)) + "</td>";
            out += "</tr>\n";
        }
        out += "</tbody></table></div></details>\n";
    }

    const run_view& view_;
    std::vector<quantity> all_ = quantities();
    std::vector<lap_range> points_;   // of a line
    std::vector<lap_range> columns_;  // of a table
    plot_axis x_;
};

}  // namespace weir::detail

#endif
