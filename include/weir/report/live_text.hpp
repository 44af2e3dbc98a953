// weir report: the state of a running pipeline as a picture of text for a terminal, or as one line
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LIVE_TEXT_HPP
#define WEIR_REPORT_LIVE_TEXT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/table.hpp>

#include <array>     // for std::array
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t, SIZE_MAX
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// The progress of a run.
struct live_progress {
    duration elapsed{};                       ///< since the start of the run
    std::uint64_t done = 0;                   ///< items that have left the run
    std::optional<std::uint64_t> total = {};  ///< number of all items; none: not known
    double rate = 0;                          ///< recent items per second
    std::uint64_t failures = 0;               ///< items that failed
    bool ended = false;                       ///< the run has ended
    duration idle{};                          ///< how long nothing has moved: `pipeline_stats::idle`
};

/// The size of a picture, and whether it has colours.
struct live_frame {
    std::size_t columns = 80;  ///< characters of a line, at most
    std::size_t rows = 24;     ///< number of lines, at most
    bool colour = false;  ///< ANSI colours; the characters of the bars tell states apart without them, too
};

namespace detail {

// \returns `12:07`, or `1:02:07`.
[[nodiscard]] std::string clock_text(duration d);

// \returns the progress in words, with as many parts as fit. The estimated time left is shown after the first
//          second only: before, few items have passed all stages.
[[nodiscard]] std::string progress_text(const live_progress& p, std::size_t columns = SIZE_MAX);

// \returns the share of time in which the slots were at work. The time of slots that are off does not count.
[[nodiscard]] double busy_share(const stage_stats& s);

// \returns a bar of `width` characters, divided among the states in proportion to their times (largest
//          remainders).
[[nodiscard]] std::string live_bar(const slot_times& t, std::size_t width, bool colour);

// A column to the right of the bar. The picture shows as many of these columns as fit, in this order.
// `behind`: the queue behind the stage; null: there is none.
struct live_column {
    const char* head;
    std::size_t width;
    std::string (*text)(const stage_stats&, const channel_stats* behind);
};
inline constexpr std::array<live_column, 6> live_columns = {{
    {"rate", 9,
     [](const stage_stats& s, const channel_stats* q) {  // a sink has no tasks: the rate of its queue
         return units::rate(s.kind == "sink" && q != nullptr ? q->rate() : s.rate());
     }},
    {"ready", 5,
     [](const stage_stats&, const channel_stats* q) {
         return q == nullptr ? std::string("-") : units::whole_percent(q->readiness()) + "%";
     }},
    {"queue", 7,
     [](const stage_stats&, const channel_stats* q) {
         return q == nullptr ? std::string("-")
                             : units::count(q->size, 3) + "/" + units::count(q->capacity, 3);
     }},
    {"failed", 6, [](const stage_stats& s, const channel_stats*) { return units::count(s.num_failures, 6); }},
    {"p50", 7, [](const stage_stats& s, const channel_stats*) { return quantile_cell(s.task_times, 0.5); }},
    {"p99", 7, [](const stage_stats& s, const channel_stats*) { return quantile_cell(s.task_times, 0.99); }},
}};

// \returns the stages to show if there is room for `most`: the busiest ones, in the order of the pipeline.
[[nodiscard]] std::vector<std::size_t> busiest(const pipeline_stats& stats, std::size_t most);

// The widths of a line's parts: the name, a bar of at least 10 characters, and as many columns as fit. The
// bar takes the rest of the line, up to 60 characters.
struct live_layout {
    std::size_t name = 5;
    std::size_t bar = 0;
    std::size_t columns = 0;

    live_layout(const pipeline_stats& lap, std::size_t width);
};

[[nodiscard]] std::string live_head(const live_layout& at, std::size_t width);

[[nodiscard]] std::string live_row(const stage_stats& s, const pipeline_stats& lap, const live_layout& at,
                                   const live_frame& frame);

[[nodiscard]] std::string live_legend(const live_frame& frame);

}  // namespace detail

/// \returns the lines of a picture of a run: its progress; a line for each stage, with a bar of its slots'
///          time by state, its rate, and the readiness and fill of its queue; and a legend. If the frame has
///          too few columns, those on the right are left out. If it has too few rows, the least busy stages
///          are. With fewer than five rows, all but the first show stages. `?` replaces characters of names
///          that could move the cursor.
/// \param lap  the recent statistics.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::vector<std::string> live_lines(const pipeline_stats& lap, const live_progress& progress,
                                                  const live_frame& frame);

/// \returns the state of a run as one line, without a line break:
///          `00:05  510 of 10000 (5 %)  102 /s  left 01:33  decode 97 % busy`.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::string live_line(const pipeline_stats& lap, const live_progress& progress);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/live_text.ipp>
#endif

#endif
