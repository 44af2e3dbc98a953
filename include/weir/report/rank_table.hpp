// weir report: compares the ranks of a job: stragglers, tables of all ranks, and metrics of each rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_TABLE_HPP
#define WEIR_REPORT_RANK_TABLE_HPP

#include <weir/report/metrics.hpp>
#include <weir/report/rank_stats.hpp>
#include <weir/report/table.hpp>

#include <concepts>  // for std::same_as
#include <cstddef>   // for std::size_t
#include <deque>     // for std::deque
#include <ostream>   // for std::ostream
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// A rank (a process of the job) whose invocations of one stage take longer than the median rank's. The
/// rules: see `stragglers`.
struct straggler {
    std::size_t rank = 0;         ///< the slow rank
    std::size_t stage_index = 0;  ///< of the stage in `rank_stats::all.stages`
    std::string stage;            ///< the name of the stage
    std::string state;  ///< where most of the extra time goes: `at work`, or `awaiting` in the function
    double ratio = 1;   ///< an invocation's time at work and awaiting, divided by the median rank's
    double lost = 0;    ///< the share of the time of the rank's workers that the extra time takes, 0 to 1
};

/// \returns a line of text, such as `rank 2: decode at work 1.9 times the median`.
[[nodiscard]] std::string line_text(const straggler& s);

/// \returns the stragglers of a lap (a part of a run) or a whole run, those that lose most first; at most one
///          stage of each rank. A stage is compared over the ranks that have it, by the average time of an
///          invocation at work and awaiting. Neither the wait for an item nor the wait for room counts, so
///          ranks that wait for a slow rank are not named. For the same reason, only the time at work counts
///          in a `sink_to`, which puts items into a channel; and in a source that reads a channel, or of
///          which `stage_stats::awaits_others` doesn't tell whether it does. A rank is a straggler under
///          three conditions. The time is at least 1.25 times the median (of two middle ranks, the faster
///          one). `straggler::lost` is at least 1 %. The difference to the median is at least five standard
///          errors plus the time of invocations that the ends of a lap cut. This needs enough invocations:
///          with an exponential distribution, for a factor of 1.5, about 400 per rank.
/// Cost: O(stages x (ranks x log ranks + buckets of a histogram)).
[[nodiscard]] std::vector<straggler> stragglers(const rank_stats& stats);

/// Finds stragglers in the laps of a run. In a single lap, a rank can be slow by chance. So the watch applies
/// `stragglers` to the last five laps together. It returns the ranks found whose time is at least 1.25 times
/// the median in at least three of these laps.
///
///     for (const weir::straggler& s : watch.add(layout.unpack(sum))) std::cerr << line_text(s) << '\n';
///
/// Threads: one at a time for each object.
/// Cost: keeps five laps; `add` costs six times as much as `stragglers`.
class straggler_watch {
  public:
    /// Adds the next lap. \returns the stragglers of the last five laps, in the order of `stragglers`; none
    /// before the third lap. A lap of other stages, or of more or fewer ranks, counts as the first lap.
    [[nodiscard]] std::vector<straggler> add(const rank_stats& lap);

  private:
    static constexpr std::size_t most_laps = 5;
    static constexpr std::size_t slow_laps = 3;

    std::deque<rank_stats> laps_;  // the last laps, at most five
};

/// \returns the statistics as tables in ASCII, at most 120 columns wide: the stages and queues of all ranks
///          together, as in `table_text(pipeline_stats)`; how the ranks differ, with the rank of each least
///          and greatest value in brackets unless both look equal; `differences_text(stats)`, which names the
///          stages that not all ranks have; and the stragglers (ranks that are slower in a stage than the
///          median rank), or that there is none.
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
/// Errors: those of `metrics_text`; `std::invalid_argument` also for a label with the name `rank`.
/// Cost: 10 KiB of memory for each stage, and 20 KiB for each queue, of each rank.
[[nodiscard]] std::string metrics_text(const rank_stats& stats, const metrics_options& options = {});

namespace detail {

// Rows of tables that compare ranks: the name of a stage or queue, the number of ranks that have it, and
// cells with least, median and greatest values over these ranks. Of a stage: the time at work and awaiting of
// an invocation; the rate; the share of the slots' time in which they wait, without a median. Of a queue: its
// readiness, the share of time in which the queue had an item.
using spread_rows = std::vector<std::vector<std::string>>;
[[nodiscard]] spread_rows stage_spreads(const rank_stats& stats);
[[nodiscard]] spread_rows queue_spreads(const rank_stats& stats);

// \returns a sentence on each straggler, or a sentence that there is none.
[[nodiscard]] std::vector<std::string> straggler_lines(const rank_stats& stats);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/rank_table.ipp>
#endif

#endif
