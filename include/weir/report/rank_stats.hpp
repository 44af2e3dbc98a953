// weir report: statistics of all ranks of a job: merged by one sum of vectors, and figures of each rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_STATS_HPP
#define WEIR_REPORT_RANK_STATS_HPP

#include <weir/measure/stats.hpp>
#include <weir/report/run_record.hpp>

#include <algorithm>  // for std::ranges::sort
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <string>     // for std::string
#include <utility>    // for std::pair
#include <vector>     // for std::vector

namespace weir {

/// The statistics of all ranks (the processes of a job), of a lap or of the whole run. Ranks may have
/// different pipelines: stages of the same name and kind on several ranks are one stage, and so are queues of
/// the same name. If a rank has two of the same name, these remain two.
///
/// `run_record{.total = s.all, .ranks = s.ranks}` stores the statistics as JSON, and shows them as a page.
struct rank_stats {
    /// All ranks together, with histograms of all invocations and waits. Counts, sizes, concurrency and times
    /// of slots are sums over the ranks. `elapsed` is the longest of any rank, so that rates are those of the
    /// job. `empty` is the average over the ranks that have the queue, so that `readiness()` is, too. `idle`
    /// is the shortest of any rank; `first_item` begins with the first item that any consumer got.
    pipeline_stats all;
    std::vector<rank_record> ranks;  ///< by rank

    [[nodiscard]] friend bool operator==(const rank_stats&, const rank_stats&) = default;
};

/// \returns the names of a pipeline's stages and queues, as text for the `rank_layout` of all ranks.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::string rank_outline(const pipeline_stats& of);

/// Turns the statistics of a rank into a vector of numbers. The sum of the vectors of all ranks, element by
/// element, contains the statistics of all ranks: one reduction with `MPI_SUM` is enough. Each rank makes the
/// same layout, once, from the outlines of all ranks:
///
///     const weir::rank_layout layout(outlines);                     // one rank_outline(run.stats()) each
///     auto words = layout.pack(run.stats(), rank);                  // on each rank
///     const weir::rank_stats of_all = layout.unpack(sum_of_words);  // on the rank that has the sum
///
/// Threads: its functions can be called at the same time. Cost: a vector has 10 KiB for each stage of the
/// job, 20 KiB for each queue, and about 0.3 KiB for each stage and queue on each rank.
class rank_layout {
  public:
    /// \param outlines  by rank: the texts of `rank_outline`.
    /// Errors: `std::runtime_error` if a text is no outline; `std::invalid_argument` without any outline.
    explicit rank_layout(std::span<const std::string> outlines);

    /// \returns the number of elements of a vector.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// \returns the number of ranks.
    [[nodiscard]] std::size_t num_ranks() const noexcept { return num_ranks_; }

    /// \returns the vector of a rank. A vector of zeros stands for a rank without statistics in this lap.
    /// Errors: `std::invalid_argument` if a stage or queue is in no outline, or if there is no such rank.
    [[nodiscard]] std::vector<std::uint64_t> pack(const pipeline_stats& of, std::size_t rank) const;

    /// \returns the statistics in the sum of vectors of different ranks.
    /// Errors: `std::invalid_argument` if the vectors were packed by other layouts, or one of them twice.
    [[nodiscard]] rank_stats unpack(std::span<const std::uint64_t> sum) const;

  private:
    // \returns the record of a rank that has not reported, with an element for each stage and queue.
    rank_record blank() const {
        rank_record none;
        none.stages.resize(outline_.stages.size());
        none.queues.resize(outline_.channels.size());
        return none;
    }

    pipeline_stats outline_;  // the stages and queues of all ranks, without figures
    std::size_t num_ranks_;
    std::size_t row_ = 0;  // elements of a vector that one rank fills with its `rank_record`
    std::size_t size_ = 0;
    std::uint64_t digest_ = 0;  // of the outlines; the first element of the row of a rank that has reported
};

/// \returns the statistics of all ranks, from those of each rank, as when one process reads several files.
/// Errors: `std::invalid_argument` if there is no rank.
[[nodiscard]] rank_stats merged(std::span<const pipeline_stats> ranks);

/// \returns the figures of one rank as `pipeline_stats`, for reports that take those. The histograms have
///          only counts, sums and maxima; the times of a stage's slots are summed in one slot. A stage that
///          the rank doesn't have has figures of 0.
/// Errors: `std::out_of_range` if there is no such rank.
[[nodiscard]] pipeline_stats of_rank(const rank_stats& stats, std::size_t rank);

/// \returns a sentence if ranks have different stages, or have not reported: `not all ranks have the same
///          stages: only rank 0 has 'train'; only ranks 1-3 have 'read'`. Otherwise empty.
[[nodiscard]] std::string differences_text(const rank_stats& stats);

/// How a figure differs over the ranks that have it.
struct rank_spread {
    double least = 0;               ///< the least value
    std::size_t least_rank = 0;     ///< the first rank that has the least value
    double median = 0;              ///< of two middle values, the lower one
    double greatest = 0;            ///< the greatest value
    std::size_t greatest_rank = 0;  ///< the last rank that has the greatest value
    std::size_t num_ranks = 0;      ///< ranks that have the figure
};

/// \param figure  `figure(rank_record)` returns a `std::optional<double>`; none: the rank has no such figure.
/// \returns the least, the median and the greatest value; all 0 if no rank has the figure.
/// Errors: `std::bad_alloc`, and those of `figure`.
template <class Figure>
[[nodiscard]] rank_spread spread(const rank_stats& stats, Figure&& figure) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t r = 0; r < stats.ranks.size(); ++r) {
        if (!stats.ranks[r].reported) continue;
        if (const std::optional<double> value = figure(stats.ranks[r])) all.emplace_back(*value, r);
    }
    if (all.empty()) return {};
    std::ranges::sort(all);
    return {.least = all.front().first,
            .least_rank = all.front().second,
            .median = all[(all.size() - 1) / 2].first,
            .greatest = all.back().first,
            .greatest_rank = all.back().second,
            .num_ranks = all.size()};
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/rank_stats.ipp>
#endif

#endif
