// weir report, internal: the plots of a page, each with a legend, a guide to reading it, and a table
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_PLOTS_HPP
#define WEIR_REPORT_HTML_PLOTS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/run_view.hpp>

#include <cmath>    // for std::floor
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir::detail {

// Draws one plot for each of `quantities()`, of the laps that `view` shows.
class html_plots {
  public:
    // `most_points`: how many points a line has at most.
    html_plots(const run_view& view, std::size_t most_points);

    [[nodiscard]] std::size_t num_points() const noexcept { return points_.size(); }
    [[nodiscard]] const char* unit() const noexcept { return x_.unit(); }
    // The times at which the points begin, and the last one ends, with commas between.
    [[nodiscard]] std::string bounds() const;

    void append_to(std::string& out) const;

  private:
    static double to_double(duration d) { return static_cast<double>(d.count()); }
    // The begin of a lap, in the unit of the x axis.
    [[nodiscard]] double start_of(std::size_t lap) const;
    [[nodiscard]] std::string start_text(std::size_t lap) const { return short_number(start_of(lap)); }
    // The number of stages or queues, one of which each line of a plot shows.
    [[nodiscard]] std::size_t count_of(const quantity& q) const;
    // The figure of a stage or queue for the whole run.
    [[nodiscard]] double over_all(const quantity& q, std::size_t i) const;

    // `which`: an index in `all_`.
    [[nodiscard]] plot plot_of(std::size_t which) const;
    // Gives the lines of a plot different styles. If there are too many lines, only those with the most
    // notable figures in `totals` get one; the others stay grey.
    static void assign_styles(const quantity& q, std::vector<plot_line>& lines,
                              const std::vector<double>& totals);
    // The lines in words, for readers who do not see them.
    static std::string description_of(const quantity& q, const std::vector<plot_line>& lines);

    void append(std::string& out, std::size_t which) const;
    static void append_legend(std::string& out, const quantity& q, const plot& p);
    void append_table(std::string& out, std::size_t which, const plot& p) const;

    const run_view& view_;
    std::vector<quantity> all_ = quantities();
    std::vector<lap_range> points_;   // of each line
    std::vector<lap_range> columns_;  // of each table
    plot_axis x_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html_plots.ipp>
#endif

#endif
