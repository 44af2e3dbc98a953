// weir report: statistics of all ranks as metrics, and as tables that compare ranks and name stragglers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_TABLE_HPP
#define WEIR_REPORT_RANK_TABLE_HPP

#include <weir/report/metrics.hpp>
#include <weir/report/rank_stats.hpp>
#include <weir/report/straggler.hpp>
#include <weir/report/table.hpp>

#include <concepts>  // for std::same_as
#include <cstddef>   // for std::size_t
#include <ostream>   // for std::ostream
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// \returns the statistics as tables in ASCII, at most 120 columns wide: the stages and queues of all ranks
///          together, as in `table_text(pipeline_stats)`; how the ranks differ, with the rank of each least
///          and greatest value in brackets; the `differences_text`; and the stragglers (ranks that are slower
///          than the others in a stage), or that there is none.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::string table_text(const rank_stats& stats);

/// Writes `table_text(stats)` in one call. The stream's locale and format flags do not matter.
template <std::same_as<rank_stats> T>
std::ostream& operator<<(std::ostream& out, const T& stats) {
    return detail::write_text(out, weir::table_text(stats));
}

/// \param stats  from the start of the run.
/// \returns the metrics of each rank (a process of the job) that has reported, as one text, with the label
///          `rank`. Histograms have no buckets, because `stats` has none of single ranks.
/// Errors: those of `metrics_text`, also for a label `rank`.
/// Cost: 10 KiB of memory for each stage, and 20 KiB for each queue, of each rank.
[[nodiscard]] std::string metrics_text(const rank_stats& stats, const metrics_options& options = {});

namespace detail {

// A line of the tables that say how a figure differs over the ranks.
struct spread_row {
    std::string name;                // of a stage or queue
    std::size_t num_ranks;           // that have it
    std::vector<std::string> cells;  // for the columns of `stage_spread_heads()` or `queue_spread_heads()`
};
// Of a stage: the time at work and awaiting of an invocation, the rate, the share of the slots' time in which
// they wait. Of a queue: its readiness, the share of time in which it had an item.
[[nodiscard]] std::vector<spread_row> stage_spreads(const rank_stats& stats);
[[nodiscard]] std::vector<spread_row> queue_spreads(const rank_stats& stats);
[[nodiscard]] std::vector<std::string> stage_spread_heads();
[[nodiscard]] std::vector<std::string> queue_spread_heads();

// \returns the sentences on stragglers, or that there is none.
[[nodiscard]] std::vector<std::string> straggler_lines(const rank_stats& stats);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/rank_table.ipp>
#endif

#endif
