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
#include <weir/report/line.hpp>
#include <weir/report/run_view.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string

namespace weir::detail {

// The most columns of a text that may be long.
inline constexpr std::size_t long_text = 300;

void append_states(std::string& out);

// A bar for each stage shows the time of its slots by state.
void append_bars(std::string& out, const run_view& view);

// A table of distributions of durations, with a bar each on one logarithmic scale from 1 us to 100 s.
class percentile_table {
  public:
    explicit percentile_table(std::string caption, std::string of);

    void add(const std::string& name, const histogram& h);
    void append_to(std::string& out) const;

  private:
    static double place(duration d);
    // Lines from p90 to p99 (thin) and from p50 to p90, and a mark for the longest.
    static markup range(const histogram& h);

    html_table table_;
    bool all_known_ = true;
};

void append_percentiles(std::string& out, const run_view& view);

// Left out if no stage copies to a device.
void append_transfers(std::string& out, const run_view& view);

// Left out if no items were discarded.
void append_discards(std::string& out, const run_view& view);

void append_failures(std::string& out, const run_view& view);

void append_settings(std::string& out, const run_view& view);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html_sections.ipp>
#endif

#endif
