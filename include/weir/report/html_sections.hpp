// weir report, internal: sections of a page: time per stage, percentiles, copies, failures and settings
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_SECTIONS_HPP
#define WEIR_REPORT_HTML_SECTIONS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/table.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string

namespace weir::detail {

// The most columns of a text that may be long.
inline constexpr std::size_t long_text = 300;

// Appends a list of the states, with their colours and meanings.
void append_states(std::string& out);

// Appends a bar for each stage, which shows the time of its slots by state; and the same as a table.
void append_bars(std::string& out, const run_view& view);

// A table of distributions of durations, with a bar each on one logarithmic scale from 1 us to 100 s.
class percentile_table {
  public:
    // `of`: the heading of the column of names.
    explicit percentile_table(std::string caption, std::string of);

    void add(const std::string& name, const histogram& h);
    void append_to(std::string& out) const;

  private:
    // The x coordinate of a duration in a bar.
    static double place(duration d);
    // \returns a bar: a thin line from p90 to p99, a thick one from p50 to p90, a mark for the longest
    //          duration.
    static markup range(const histogram& h);

    html_table table_;
    bool all_known_ = true;  // each row has percentiles
};

void append_percentiles(std::string& out, const run_view& view);

// Appends nothing if no stage copies to a device.
void append_transfers(std::string& out, const run_view& view);

// Appends nothing if no items were discarded.
void append_discards(std::string& out, const run_view& view);

void append_failures(std::string& out, const run_view& view);

void append_settings(std::string& out, const run_view& view);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html_sections.ipp>
#endif

#endif
