// weir report: the figures of one rank of a job, stage by stage and queue by queue, without histograms
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_RECORD_HPP
#define WEIR_REPORT_RANK_RECORD_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <vector>    // for std::vector

namespace weir {

/// The figures of a stage on one rank (a process of the job). `stage_stats` explains the members of the same
/// names.
struct stage_on_rank {
    bool exists = false;             ///< false: the rank has no such stage, and each figure is 0
    std::size_t concurrency = 0;     ///< slots (workers) in service at the snapshot, working or not
    duration elapsed{};              ///< from the stage's start to the snapshot
    std::uint64_t num_tasks = 0;     ///< invocations finished
    std::uint64_t num_failures = 0;  ///< of these, the ones that failed
    duration task_time{};            ///< of the successful invocations, summed
    duration failure_time{};         ///< of the failed ones, summed
    duration busy{};                 ///< of all invocations, open ones included
    slot_times times;                ///< of its slots, summed
    duration longest{};              ///< the longest successful invocation
    std::optional<transfer_stats> transfers = std::nullopt;  ///< if the stage copies to a device
    std::optional<added_stats> added = std::nullopt;         ///< if the stage is a `traverse`
    std::optional<retry_stats> retries = std::nullopt;       ///< if a call was repeated

    /// The time of an invocation for which the function runs or awaits. If no invocation has ended, the time
    /// so far counts as that of one invocation.
    /// \returns `times.busy()` divided by the number of invocations, in nanoseconds; 0 without a slot.
    [[nodiscard]] double work() const noexcept;

    [[nodiscard]] friend bool operator==(const stage_on_rank&, const stage_on_rank&) = default;
};

/// The figures of a queue on one rank. `channel_stats` explains the members of the same names.
struct queue_on_rank {
    bool exists = false;              ///< false: the rank has no such queue, and each figure is 0
    std::size_t size = 0;             ///< items in it at the snapshot
    std::size_t capacity = 0;         ///< items for which it has room
    std::size_t bytes = 0;            ///< of the items, if bytes are limited
    std::size_t max_bytes = 0;        ///< the limit in bytes; 0: none
    duration elapsed{};               ///< from its start to the snapshot
    std::uint64_t num_put = 0;        ///< puts completed
    std::uint64_t num_get = 0;        ///< gets completed
    std::uint64_t num_discarded = 0;  ///< items destroyed in the queue
    duration put_wait{};              ///< time that puts waited, summed
    duration get_wait{};              ///< time that gets waited, summed
    duration put_blocked{};           ///< time in which at least one put waited
    duration get_blocked{};           ///< time in which at least one get waited
    duration empty{};                 ///< time without an item
    duration longest_put{};           ///< the longest wait of a put
    duration longest_get{};           ///< the longest wait of a get

    /// Data readiness on this rank: the share of time in which the queue had an item.
    /// \returns 0 to 1; 0 before any time has passed.
    [[nodiscard]] double readiness() const noexcept;

    [[nodiscard]] friend bool operator==(const queue_on_rank&, const queue_on_rank&) = default;
};

/// The figures of one rank, of a lap or of a whole run. `stages` and `queues` have an element for each stage
/// and queue of the job, with the indices of `rank_stats::all`, also for those that this rank doesn't have.
struct rank_record {
    bool reported = false;  ///< false: the rank's statistics are missing, and each figure is 0
    duration elapsed{};     ///< from the start of the rank's run to the snapshot
    std::optional<process_stats> process = std::nullopt;        ///< resources used in that time
    duration idle{};                                            ///< for how long nothing has moved
    std::uint64_t num_items = 0;                                ///< items that the rank's consumer has got
    std::optional<first_item_stats> first_item = std::nullopt;  ///< of the rank's consumer
    std::vector<stage_on_rank> stages;                          ///< the job's stages on this rank
    std::vector<queue_on_rank> queues;                          ///< the job's queues on this rank

    [[nodiscard]] friend bool operator==(const rank_record&, const rank_record&) = default;
};

namespace detail {

// Whether the record has an element for each stage and queue of the job.
inline bool is_of_job(const rank_record& rank, const pipeline_stats& job) noexcept {
    return rank.stages.size() == job.stages.size() && rank.queues.size() == job.channels.size();
}

}  // namespace detail

inline double stage_on_rank::work() const noexcept {
    const auto calls = static_cast<double>(num_tasks == 0 ? 1 : num_tasks);
    return static_cast<double>(times.busy().count()) / calls;
}

inline double queue_on_rank::readiness() const noexcept {
    channel_stats c;
    c.elapsed = elapsed;
    c.empty = empty;
    return c.readiness();
}

}  // namespace weir

#endif
