// weir report: one line of text about a stage, a queue, a histogram, the times of a slot, or the process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LINE_HPP
#define WEIR_REPORT_LINE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>

#include <ostream>  // for std::ostream
#include <string>   // for std::string

namespace weir {

/// \returns count and durations: `200 times, ave 2.7 ms, p50 2.6 ms, p99 4.1 ms, max 4.3 ms`. Unknown values
///          are left out.
[[nodiscard]] std::string line_text(const histogram& h);

/// \returns all states with their times, by the names of `slot_times`: `run 1.2 s, await 0, ...`.
[[nodiscard]] std::string line_text(const slot_times& t);

/// \returns `download[12]: 200 tasks, 3 failed after 80.0 ms, 33.3 /s, ave 2.7 ms; run 1.2 s, ...`. The time
///          after which tasks failed is the average; it is left out if none failed.
[[nodiscard]] std::string line_text(const stage_stats& s);

/// \returns `load_queue: 2 of 8 in it, 200 taken, 33.3 /s, put wait 2.7 ms, get wait 0, readiness 98.2 %`.
///          If items were discarded, the line says so: `3 discarded`.
[[nodiscard]] std::string line_text(const channel_stats& c);

/// \returns `1.8 of 2 processors busy, 0.1 in the system; 212 MB resident; 12.0 k context switches, 3.1 k of
///          them forced; read 1.2 GB, written 0 B`. If there were major page faults, the line has them, too.
///          Unknown values are left out.
[[nodiscard]] std::string line_text(const process_stats& p);

namespace detail {

[[nodiscard]] double share_of(duration part, duration all);

// \returns the text with `?` for each byte that is not printable ASCII.
[[nodiscard]] std::string ascii_only(std::string text);

// Writes the text in one call, without any formatting of the stream.
std::ostream& write_text(std::ostream& out, const std::string& text);

// \returns what all reports say about a run in which nothing has moved for 10 s or longer; else nothing.
[[nodiscard]] std::string idle_text(duration idle);

// \returns when the first item came to the consumer, the rate since then, and the rate of the whole time.
//          For a lap that begins after the first item, and without statistics, only the rate.
[[nodiscard]] std::string first_item_text(const pipeline_stats& p);

template <class T>
concept has_line = requires(const T& value) { weir::line_text(value); };

}  // namespace detail

/// Writes `line_text(value)` in one call, without a line break. The stream's locale and format flags do not
/// matter.
template <detail::has_line T>
std::ostream& operator<<(std::ostream& out, const T& value) {
    return detail::write_text(out, weir::line_text(value));
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/line.ipp>
#endif

#endif
