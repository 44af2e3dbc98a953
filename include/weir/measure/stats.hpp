// weir measure: statistics of a channel, a stage and a pipeline, as plain values
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_STATS_HPP
#define WEIR_MEASURE_STATS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

// How to read the statistics:
// - Times are integer nanoseconds of one clock, the executor's, from the start to the snapshot.
// - An interval that is still open at the snapshot (a put that waits, a channel that is empty, an
//   invocation that runs) is included up to the snapshot. So a lap, the difference of two snapshots, splits
//   the interval at its boundaries: a channel without an item for a whole lap is empty for the whole lap.
// - "Summed" times count once for each operation: c operations that wait for 1 s are c s. "Blocked"
//   times and `empty` count once, however many operations wait.
// - The histograms contain finished intervals only. If the policy keeps no histograms, they have counts, sums
//   and maxima, but no quantiles (`histogram::has_quantiles`).
// - Invocations of less than 4 us that don't wait share a clock reading, 16 at most. Their sum is exact, and
//   each counts as their mean, except for one that is much longer (`stopwatch`): so `task_times.max()` may be
//   the mean of up to 16 short invocations. On virtual time, each invocation has a reading of its own.
// - The end of a stream is not counted as an item.
namespace weir {

/// The statistics of a channel.
struct channel_stats {
    std::string name;                 ///< of the stage before the channel, or given to its constructor
    std::size_t size = 0;             ///< items in the channel at the snapshot
    std::size_t capacity = 0;         ///< the capacity at the snapshot, in items
    std::size_t bytes = 0;            ///< of the items at the snapshot, if bytes are limited; else 0
    std::size_t max_bytes = 0;        ///< the limit in bytes at the snapshot; 0: none
    duration elapsed{};               ///< from the channel's start to the snapshot
    std::uint64_t num_put = 0;        ///< puts completed; refused ones (closed, stopped, full) don't count
    std::uint64_t num_get = 0;        ///< gets completed with an item
    std::uint64_t num_discarded = 0;  ///< items destroyed in the queue, by `cancel` or the end of a run:
                                      ///< `num_put` is `num_get + num_discarded + size`, at any instant
    duration put_wait{};              ///< time that puts waited for room, summed over puts
    duration get_wait{};              ///< time that gets waited for an item, summed over gets
    duration put_blocked{};           ///< time in which at least one put waited
    duration get_blocked{};           ///< time in which at least one get waited
    duration empty{};                 ///< time without an item in the channel; an item that is handed to a
                                      ///< waiting get does not count as in the channel
    histogram put_waits;              ///< of the wait of each completed put; 0 if it did not wait
    histogram get_waits;              ///< of the wait of each completed get; 0 if it did not wait

    /// Data readiness, also called occupancy rate: the share of the time in which the channel had an item.
    /// \returns 0 to 1; 0 before any time has passed.
    [[nodiscard]] double readiness() const noexcept;

    /// The average wait of a put. If c puts wait at the same time, each wait counts.
    /// \returns put_wait / num_put; 0 without a put.
    [[nodiscard]] duration ave_put_wait() const noexcept { return detail::average(put_wait, num_put); }

    /// \returns get_wait / num_get; 0 without a get. If c gets wait at once all the time, the value is c
    ///          times `ave_get_gap`.
    [[nodiscard]] duration ave_get_wait() const noexcept { return detail::average(get_wait, num_get); }

    /// The time per item in which at least one get waited, because there was no item.
    /// \returns get_blocked / num_get; 0 without a get.
    [[nodiscard]] duration ave_get_gap() const noexcept { return detail::average(get_blocked, num_get); }

    /// \returns items got per second.
    [[nodiscard]] double rate() const noexcept { return detail::per_second(num_get, elapsed); }
    [[nodiscard]] friend bool operator==(const channel_stats&, const channel_stats&) = default;
};

/// A lap: what happened from `earlier` to `later`. Name, size, capacity, `bytes` and `max_bytes` are
/// those of `later`. Nothing becomes negative, whatever is subtracted.
[[nodiscard]] channel_stats operator-(channel_stats later, const channel_stats& earlier);

/// The statistics of a stage that copies its items to or from a device (`to_device`, `to_host`), or that
/// waited for blocks. A block is a piece of host memory that a pool lends to the stage: to `to_device` and
/// `to_host` for a copy, to `batch_slots` for a batch.
struct transfer_stats {
    std::uint64_t num_copies = 0;        ///< completed copies
    std::uint64_t bytes = 0;             ///< bytes of these copies
    duration copying{};                  ///< time of these copies on the device, summed
    std::uint64_t num_handed_over = 0;   ///< copies whose batch a device stream of the consumer took over
    duration handed_over{};              ///< the part of `copying` for these copies
    duration exposed{};                  ///< part of `handed_over` when the stream was idle, or maybe idle
    std::uint64_t num_block_waits = 0;   ///< waits for a free block of the pool
    duration block_wait{};               ///< the time of these waits, summed over slots (workers)
    std::uint64_t num_memory_waits = 0;  ///< waits for memory of the device
    duration memory_wait{};              ///< the time of these waits, summed over slots

    /// \returns bytes per second while the device copied; 0 without a copy.
    [[nodiscard]] double rate() const noexcept { return detail::per_second(bytes, copying); }

    /// \returns the share of `handed_over` that was hidden behind the consumer's work, 0 to 1; 0 if no
    ///          consumer's stream took over a batch.
    [[nodiscard]] double hidden() const noexcept;
    [[nodiscard]] friend bool operator==(const transfer_stats&, const transfer_stats&) = default;
};

/// A lap; nothing becomes negative.
[[nodiscard]] transfer_stats operator-(transfer_stats later, const transfer_stats& earlier);

/// The statistics of a stage whose function adds items to the stage itself: see `traverse`. At any instant,
/// the stage has begun num_added - num_waiting - num_discarded of the added items.
struct added_stats {
    std::uint64_t num_added = 0;      ///< items that the function has added
    std::uint64_t num_waiting = 0;    ///< added items that no slot has begun at the snapshot
    std::uint64_t most_waiting = 0;   ///< the maximum of `num_waiting` in the whole run
    std::uint64_t num_discarded = 0;  ///< added items destroyed by a stop or failure before they began
    [[nodiscard]] friend bool operator==(const added_stats&, const added_stats&) = default;
};

/// A lap; `num_waiting` and `most_waiting` are those of `later`. Nothing becomes negative.
[[nodiscard]] added_stats operator-(added_stats later, const added_stats& earlier);

/// The order of the results of a stage with several slots.
enum class output_order {
    completion,  ///< as they are finished
    input,       ///< that of the items; a result before its turn waits in its place in the next queue
};

/// The calls of a stage's function that failed and were repeated: see `retry`.
struct retry_stats {
    std::uint64_t num_retries = 0;  ///< failed calls that were repeated
    duration time{};                ///< of these calls, and of the waits after them, summed over slots
    [[nodiscard]] friend bool operator==(const retry_stats&, const retry_stats&) = default;
};

/// A lap; nothing becomes negative.
[[nodiscard]] retry_stats operator-(retry_stats later, const retry_stats& earlier);

/// How a stage was started: what `record_of` needs, so that a run with other settings can be predicted.
struct stage_setup {
    bool keeps_order = false;  ///< results keep the order of the items: see `stage_options::output_order`
    std::size_t executor = 0;  ///< the index of the first stage that has the same executor
    std::size_t threads = 0;   ///< how many coroutines that executor runs at once; 0: no limit (virtual time)
    std::size_t item_bytes = 0;  ///< average in the first output queue; 0: no item yet, or no limit of bytes
    bool is_resizable = true;    ///< `run::set_concurrency` can change its number of slots

    [[nodiscard]] friend bool operator==(const stage_setup&, const stage_setup&) = default;
};

/// The statistics of a stage.
struct stage_stats {
    std::string name;                ///< that of `stage_options::name`, or made from the function or kind
    std::string kind;                ///< source, pipe, aggregate, ..., sink
    std::size_t concurrency = 1;     ///< slots (workers of the stage) in service at the snapshot
    duration elapsed{};              ///< from the stage's start to the snapshot
    std::uint64_t num_tasks = 0;     ///< invocations finished, failed ones included
    std::uint64_t num_failures = 0;  ///< invocations that ended with an exception
    duration task_time{};            ///< time of the successful invocations, summed
    duration failure_time{};         ///< time of the failed ones, summed
    duration busy{};  ///< `run` + `await` of all slots: the time of all invocations, open ones included,
                      ///< without the waits for a thread that `task_time` and `failure_time` include
    std::vector<slot_times> per_slot;  ///< one a slot; more than `concurrency` if that was lowered
    std::vector<std::size_t> inputs;   ///< its input channels, as indices into `pipeline_stats::channels`
    std::vector<std::size_t> outputs;  ///< its output channels, as indices into `pipeline_stats::channels`
    histogram task_times;              ///< of successful invocations; short ones: means, see the file's top
    std::optional<transfer_stats> transfers = std::nullopt;  ///< if it copies, or has waited for blocks
    std::optional<added_stats> added = std::nullopt;         ///< if the stage is a `traverse`
    std::optional<retry_stats> retries = std::nullopt;       ///< if a call was repeated
    std::optional<stage_setup> setup = std::nullopt;         ///< none: a sink, which has no executor
    std::optional<bool> awaits_others = std::nullopt;        ///< whether a source that waits reads a channel
    /// A sample of the `num_tasks` invocations, or of the batches of an `aggregate`; none: not recorded, see
    /// `run_options::recording`. Of a lap: those that ended in the lap.
    std::optional<task_samples> samples = std::nullopt;

    /// \returns the slots' times, summed.
    [[nodiscard]] slot_times times() const noexcept;

    /// \returns the average time of a successful invocation; 0 without one.
    [[nodiscard]] duration ave_time() const noexcept;

    /// \returns the average time of a failed invocation; 0 without one.
    [[nodiscard]] duration ave_failure_time() const noexcept;

    /// \returns finished invocations per second.
    [[nodiscard]] double rate() const noexcept { return detail::per_second(num_tasks, elapsed); }
    [[nodiscard]] friend bool operator==(const stage_stats&, const stage_stats&) = default;
};

/// A lap: what happened from `earlier` to `later`. Slots are matched by position. What is neither a count
/// nor a time, such as name, concurrency and `setup`, is that of `later`. Nothing becomes negative.
[[nodiscard]] stage_stats operator-(stage_stats later, const stage_stats& earlier);

namespace detail {

// The longer of two times: of the finished invocations, with their waits for a thread; and of all
// invocations, open ones included, without these waits. So no share of this time exceeds 1.
inline duration time_of_invocations(const stage_stats& stage) noexcept {
    return larger(sum(stage.task_time, stage.failure_time), stage.busy);
}

// In an invocation, the function has a thread, awaits something, or waits for a thread.
// \returns the share of the first two in the time of the finished invocations, 0 to 1; 1 without invocations.
double share_without_thread_waits(const stage_stats& stage) noexcept;

}  // namespace detail

/// When the consumer (which takes the results) got its first item, and the throughput since then, which
/// excludes the start-up time of stages, such as the time to load a model.
struct first_item_stats {
    duration after{};             ///< from the start of the run to the first item; in a lap, too
    duration since{};             ///< from the first item to the snapshot; in a lap, the part within the lap
    std::uint64_t num_items = 0;  ///< items that the consumer got in `since`, without the first one

    /// \returns items per second since the first one, which does not count; 0 if no time has passed since.
    [[nodiscard]] double rate() const noexcept { return detail::per_second(num_items, since); }
    [[nodiscard]] friend bool operator==(const first_item_stats&, const first_item_stats&) = default;
};

/// A lap; nothing becomes negative.
[[nodiscard]] first_item_stats operator-(first_item_stats later, const first_item_stats& earlier) noexcept;

/// The statistics of a pipeline: a value that can be kept, compared, subtracted and printed
/// (`#include <weir/report/table.hpp>`).
struct pipeline_stats {
    duration elapsed{};                   ///< from the start of the run to the snapshot
    std::vector<stage_stats> stages;      ///< in the order in which items pass: source ... sink; branches
                                          ///< one after the other
    std::vector<channel_stats> channels;  ///< the queues between the stages: see `stage_stats::outputs`
    std::optional<process_stats> process = std::nullopt;  ///< none: virtual time, `unmeasured`, or unknown
    /// For how long nothing has moved at the snapshot: no item came or went, and no slot changed its state. 0
    /// while a thread runs a stage's function, for however long; a function that awaits does not count as
    /// moving. 0 if the run is paused, over, or without statistics. A get by the consumer that leaves items
    /// in the queue is only noticed at the next snapshot.
    duration idle{};
    /// Items that the consumer has got; in a run without a consumer, items that the last stage has got.
    std::uint64_t num_items = 0;
    /// None: the consumer has got no item yet, or the run has no statistics. A run that continues from a
    /// checkpoint is a new run, with a first item of its own.
    std::optional<first_item_stats> first_item = std::nullopt;
    /// A sample of the consumer's times: `run` is the time from the return of a call that takes an item until
    /// the next call. None: not recorded, see `run_options::recording`; or several consumers took items at
    /// the same time.
    std::optional<task_samples> consumer = std::nullopt;

    /// \returns `num_items` per second of `elapsed`. `first_item_stats::rate` excludes the start-up time.
    [[nodiscard]] double rate() const noexcept { return detail::per_second(num_items, elapsed); }
    [[nodiscard]] friend bool operator==(const pipeline_stats&, const pipeline_stats&) = default;
};

/// A lap: what happened from `earlier` to `later`, two snapshots of one run. Stages and channels are
/// matched by position; those that `earlier` lacks are unchanged. `idle` and `first_item->after` are
/// those of `later`, and may refer to a time before the lap.
[[nodiscard]] pipeline_stats operator-(pipeline_stats later, const pipeline_stats& earlier);

namespace detail {

// \returns the time from the start of the run to the consumer's first get, as far as the statistics tell: to
//          the first item, without the longest wait for an item, which counts as the first wait. 0 without an
//          item. `last`: the consumer's queue.
duration time_before_first_get(const pipeline_stats& stats, const channel_stats& last) noexcept;

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/measure/stats.ipp>
#endif

#endif
