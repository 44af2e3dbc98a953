// weir report, internal: figures of a page: plots, each with a legend, a guide and a table; and percentiles
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_PLOTS_HPP
#define WEIR_REPORT_HTML_PLOTS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/run_view.hpp>

#include <algorithm>  // for std::max, std::min, std::sort
#include <cmath>      // for std::log10, std::lround
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// Draws the six plots of a page: one for each of `quantities()` (run_view.hpp), such as the rate, with a line
// for each stage or queue. A point of a line is one lap (a part of the run), or several adjacent laps.
class html_plots {
  public:
    html_plots(const run_view& view, std::size_t most_points)
        : view_(view), points_(view.parts(most_points)),
          columns_(view.parts(view.num_stages() > 24 ? 4 : 10)),
          x_(plot_axis::of_length(figure_kind::time, to_double(view.laps().start_of(view.num_drawn())))) {}

    [[nodiscard]] std::size_t num_points() const noexcept { return points_.size(); }
    [[nodiscard]] const char* unit() const noexcept { return x_.unit(); }
    // The times, in `unit()`, at which the points' laps begin and the last lap ends, with commas between.
    [[nodiscard]] std::string bounds() const {
        std::string text;
        for (const lap_range& p : points_) text += start_text(p.begin) + ",";
        return text + start_text(view_.num_drawn());
    }

    void append_to(std::string& out) const {
        out += "<div class=\"plots\">\n";
        for (std::size_t i = 0; i < quantities().size(); ++i) append(out, i);
        out += "</div>\n";
    }

  private:
    static double to_double(duration d) { return static_cast<double>(d.count()); }
    // When a lap begins, in the unit of the x axis.
    [[nodiscard]] double start_of(std::size_t lap) const {
        return to_double(view_.laps().start_of(lap)) / x_.scale();
    }
    [[nodiscard]] std::string start_text(std::size_t lap) const { return short_number(start_of(lap)); }
    // `which`: an index in `quantities()`.
    [[nodiscard]] plot plot_of(std::size_t which) const {
        const quantity& q = quantities()[which];
        std::vector<plot_line> lines;
        std::vector<std::vector<double>> all;
        std::vector<double> totals;
        const bool of_stages = q.of_stage != nullptr;
        const pipeline_stats& total = view_.run().total;
        for (std::size_t i = 0; i < (of_stages ? view_.num_stages() : view_.num_channels()); ++i) {
            plot_line line;
            line.label = of_stages ? view_.stage(i) : view_.channel(i);
            line.over_all = (of_stages ? q.of_stage(total.stages[i]) : q.of_queue(total.channels[i])).value();
            for (const lap_range& p : points_)
                line.values.push_back(view_.laps().value(which, i, p.begin, p.end));
            all.push_back(line.values);
            // Not `line.over_all`: the tasks of the whole run are far beyond an axis of tasks per lap.
            totals.push_back(view_.laps().value(which, i, 0, view_.num_drawn()));
            lines.push_back(std::move(line));
        }
        assign_styles(q, lines, totals);
        plot_axis y = plot_axis::fitting(q.kind, all, totals, q.by_differences);
        // On a logarithmic axis each tick has its own unit.
        const bool unit = *y.unit() != '\0' && !y.is_logarithmic();
        std::string label = std::string(q.label) + (unit ? " [" + std::string(y.unit()) + "]" : "");
        plot p{q.id, q.title,         std::string(q.meaning) + " " + description_of(q, lines),
               x_,   std::move(y),    std::move(label),
               {},   std::move(lines)};
        for (const lap_range& each : points_) p.at.push_back((start_of(each.begin) + start_of(each.end)) / 2);
        return p;
    }
    // Gives each line that has figures a style of its own. If there are more than `num_line_styles` such
    // lines, only the eight with the most notable figures get a style; the other lines stay grey. `totals`:
    // each line's figure for all drawn laps together.
    static void assign_styles(const quantity& q, std::vector<plot_line>& lines,
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
            order.resize(8);  // nobody can tell more lines apart
        }
        std::sort(order.begin(), order.end());
        for (std::size_t k = 0; k < order.size(); ++k) lines[order[k]].style = k;
    }
    // The lines in words, for readers who do not see them.
    static std::string description_of(const quantity& q, const std::vector<plot_line>& lines) {
        std::string text = "Over the whole run: ";
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i == num_line_styles)
                return text + ", and " + std::to_string(lines.size() - i) + " more; all are in the table.";
            text += (i == 0 ? "" : ", ") + lines[i].label + " " + figure_text(q.kind, lines[i].over_all);
        }
        return lines.empty() ? "There is nothing to show." : text + ".";
    }

    void append(std::string& out, std::size_t which) const {
        const quantity& q = quantities()[which];
        const plot p = plot_of(which);
        fill_in(out, R"(<article aria-labelledby="{}-h"><h3 id="{}-h">{}</h3>
<p>{}</p>
<figure>
)",
                p.id, p.id, p.title, q.meaning);
        append_svg(out, p);
        append_legend(out, q, p);
        const std::size_t last = points_.size() - 1;
        fill_in(out,
                R"(<label class="when{}">At <input type="range" min="0" max="{}" value="{}" )"
                R"(aria-label="{}: which lap"/><output>whole run</output></label>
</figure>
<ul class="guide">
)",
                last == 0 ? " alone" : "", last, last, p.title);
        for (const char* const sentence : q.guide) fill_in(out, "<li>{}</li>\n", sentence);
        out += "</ul>\n";
        append_table(out, which, p);
        out += "</article>\n";
    }
    static void append_legend(std::string& out, const quantity& q, const plot& p) {
        out += "<ul class=\"legend\" aria-label=\"Lines, and their figures\">\n";
        std::size_t others = 0;   // grey lines
        std::size_t unnamed = 0;  // grey lines, and those without figures
        for (const plot_line& line : p.lines) {
            if (line.style >= num_line_styles) {
                others += line.has_values() ? 1U : 0U;
                ++unnamed;
                continue;
            }
            const std::string value = figure_text(q.kind, line.over_all);
            fill_in(out,
                    R"(<li><button type="button" data-s="{}"><svg class="key s{}" viewBox="0 0 138 48" )",
                    line.style, line.style);
            fill_in(out,
                    R"(aria-hidden="true"><path d="M6 24H132"/><use href="#mark{}" x="69" y="24"/></svg>)",
                    line.style);
            fill_in(out, R"(<bdi>{}</bdi> <span class="v" data-whole="{}">{}</span></button></li>
)",
                    line.label, value, value);
        }
        out += "</ul>\n";
        if (others == 0) return;
        fill_in(out,
                "<p class=\"soft\">Named are the {} with the {} figures; the other {} are grey, and in the "
                "table.</p>\n",
                p.lines.size() - unnamed, q.high_is_notable ? "highest" : "lowest", others);
    }
    void append_table(std::string& out, std::size_t which, const plot& p) const {
        const quantity& q = quantities()[which];
        fill_in(out, R"(<details class="data"><summary>{} as a table</summary>)", p.title);
        fill_in(out, R"(<div class="scroll" role="region" aria-label="{}, table"><table>)", p.title);
        fill_in(out, R"(<caption>{}, of the whole run and of parts of it, from … to … {}</caption>
<thead><tr><th class="l" scope="col">{}</th><th scope="col">whole run</th>)",
                p.title, x_.unit(), q.of_stage != nullptr ? "stage" : "queue behind");
        for (const lap_range& c : columns_)
            fill_in(out, R"(<th scope="col">{}–{}</th>)", start_text(c.begin), start_text(c.end));
        out += "</tr></thead>\n<tbody>";
        for (std::size_t i = 0; i < p.lines.size(); ++i) {
            fill_in(out, "<tr><th>{}</th><td>{}</td>", p.lines[i].label,
                    figure_text(q.kind, p.lines[i].over_all));
            for (const lap_range& c : columns_)
                fill_in(out, "<td>{}</td>",
                        figure_text(q.kind, view_.laps().value(which, i, c.begin, c.end)));
            out += "</tr>\n";
        }
        out += "</tbody></table></div></details>\n";
    }

    const run_view& view_;
    std::vector<lap_range> points_;   // the laps of each point of a line
    std::vector<lap_range> columns_;  // the laps of each column of a table
    plot_axis x_;
};

// A table with a distribution of durations in each row: percentiles as figures, and as a bar on a logarithmic
// scale from 1 us to 100 s.
class percentile_table {
  public:
    // `of`: the heading of the first column, such as "stage".
    explicit percentile_table(std::string caption, std::string of)
        : table_(std::move(caption), {{std::move(of)},
                                      {"times"},
                                      {"average"},
                                      {"p50"},
                                      {"p90"},
                                      {"p99"},
                                      {"longest"},
                                      {"1 µs … 100 s"}}) {}

    void add(const std::string& name, const histogram& h) {
        if (h.empty()) return;
        const bool known = h.has_quantiles();
        const auto quantile = [&](double q) { return known ? time_markup(h.quantile(q)) : std::string("–"); };
        table_.add({name, units::count(h.count()), time_markup(h.mean()), quantile(0.5), quantile(0.9),
                    quantile(0.99), time_markup((h.max)())});
        table_.add_markup(known ? range(h) : markup{"–"});
        all_known_ = all_known_ && known;
    }
    void append_to(std::string& out) const {
        if (table_.empty()) return;
        table_.append_to(out);
        if (all_known_) return;
        out +=
            "<p class=\"note\">Where there is no percentile (–), only the count, the sum and the longest "
            "were recorded: the run's statistics are <code>summed</code>.</p>\n";
    }

  private:
    // The x coordinate of a duration in a bar.
    static double place(duration d) {
        const double decades = std::log10((std::max)(static_cast<double>(d.count()), 1.0)) - 3;
        return (std::min)((std::max)(decades / 8 * 160, 0.0), 157.0);
    }
    // \returns the bar of a row: a thin line from p90 to p99, a thick line from p50 to p90, a mark for the
    //          longest duration.
    static markup range(const histogram& h) {
        const auto line = [](double from, double to) {
            return filled("<path d=\"M{} 8h{}\"/>", std::lround(from),
                          std::lround((std::max)(to - from, 3.0)));
        };
        return filled("<svg class=\"range\">{}{}{}</svg>", line(place(h.p90()), place(h.p99())),
                      line(place(h.p50()), place(h.p90())), line(place((h.max)()), 0));
    }

    html_table table_;
    bool all_known_ = true;  // every row has percentiles; else a note explains the dashes
};

inline void append_percentiles(std::string& out, const run_view& view) {
    const pipeline_stats& all = view.run().total;
    percentile_table tasks("Time of a task, of those that succeeded", "stage");
    percentile_table gets("Wait to get an item, of each get: slots that wait at the same time count each",
                          "queue behind");
    percentile_table puts("Wait to put an item, of each put", "queue behind");
    for (std::size_t i = 0; i < view.num_stages(); ++i) tasks.add(view.stage(i), all.stages[i].task_times);
    for (std::size_t i = 0; i < view.num_channels(); ++i) {
        gets.add(view.channel(i), all.channels[i].get_waits);
        puts.add(view.channel(i), all.channels[i].put_waits);
    }
    out +=
        "<p>p90 is what 9 of 10 do not exceed. The bar reaches from p50 to p90, thinner to p99; the mark "
        "behind it is the longest. The scale is logarithmic. A percentile is at most 3 % too great.</p>\n";
    tasks.append_to(out);
    gets.append_to(out);
    puts.append_to(out);
}

}  // namespace weir::detail

#endif
