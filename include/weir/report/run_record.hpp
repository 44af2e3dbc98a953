// weir report: a run as a value: pipeline, machine, failures, statistics, also of ranks; and joined laps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORD_HPP
#define WEIR_REPORT_RUN_RECORD_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/structure.hpp>
#include <weir/version.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint8_t, std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

enum class run_outcome : std::uint8_t;

/// The machine on which a run took place. A value that the system does not tell is empty, or 0.
struct machine_info {
    std::string host;          ///< its name
    std::string system;        ///< `Linux 6.1.0 x86_64`
    std::string processor;     ///< its model
    unsigned processors = 0;   ///< number of processors that the process may use
    std::uint64_t memory = 0;  ///< bytes

    [[nodiscard]] friend bool operator==(const machine_info&, const machine_info&) = default;
};

/// How one source file of the program was compiled: the file from which the program has its `this_build`, the
/// function that fills these members in. That is one of the files that include this header; with
/// `WEIR_SEPARATE_COMPILATION`, the file that includes `weir/src.hpp`.
struct build_info {
    std::string weir;         ///< the version of this library
    std::string compiler;     ///< the compiler and its version
    std::string library;      ///< the standard library and its version
    bool optimised = false;   ///< compiled with optimisation
    bool assertions = false;  ///< compiled without NDEBUG

    [[nodiscard]] friend bool operator==(const build_info&, const build_info&) = default;
};

/// A setting of a run, given by the program: a number of threads, the name of a dataset.
struct run_setting {
    std::string name;   ///< what is set
    std::string value;  ///< its value, as text

    [[nodiscard]] friend bool operator==(const run_setting&, const run_setting&) = default;
};

/// An item that failed.
struct recorded_failure {
    std::string stage;       ///< the name of the stage
    std::uint64_t item = 0;  ///< the item's number in that stage, from 0
    std::string message;     ///< `failure::message()`
    std::string where;       ///< where the stage was composed: `loader.cpp:42`; empty: not known
    std::size_t lap = 0;     ///< the number of the lap, from 0

    [[nodiscard]] friend bool operator==(const recorded_failure&, const recorded_failure&) = default;
};

/// The figures of a stage on one rank (a process of the job). `stage_stats` explains the members of the same
/// names. The snapshot is the moment at which the statistics were taken.
struct stage_on_rank {
    bool exists = false;             ///< false: the rank has no such stage, and each figure is 0
    std::size_t concurrency = 0;     ///< slots (workers) in service at the snapshot, working or not
    duration elapsed{};              ///< from the stage's start to the snapshot
    std::uint64_t num_tasks = 0;     ///< invocations finished
    std::uint64_t num_failures = 0;  ///< of these, the ones that failed
    duration task_time{};            ///< of the successful invocations, summed
    duration failure_time{};         ///< of the failed ones, summed
    duration busy{};                 ///< of all invocations, summed, also of those that have not ended
    slot_times times;                ///< of its slots, summed
    duration longest{};              ///< the longest successful invocation
    std::optional<transfer_stats> transfers = std::nullopt;  ///< copies to or from a GPU, waits for memory
    std::optional<added_stats> added = std::nullopt;         ///< items that a `traverse` adds to its input
    std::optional<retry_stats> retries = std::nullopt;       ///< repeated calls; no value: there were none

    /// The average time for which an invocation of the function runs or awaits. The time of invocations that
    /// have not ended counts, too. If none has ended, the time so far counts as that of one invocation.
    /// \returns `times.busy()` divided by `num_tasks`, in nanoseconds; 0 without a slot.
    [[nodiscard]] double work() const noexcept;

    [[nodiscard]] friend bool operator==(const stage_on_rank&, const stage_on_rank&) = default;
};

/// The figures of a queue on one rank (a process of the job). `channel_stats` explains the members of the
/// same names.
struct queue_on_rank {
    bool exists = false;              ///< false: the rank has no such queue, and each figure is 0
    std::size_t size = 0;             ///< items in the queue at the snapshot
    std::size_t capacity = 0;         ///< items for which the queue has room
    std::size_t bytes = 0;            ///< of the items, if bytes are limited
    std::size_t max_bytes = 0;        ///< the limit in bytes; 0: none
    duration elapsed{};               ///< from its start to the snapshot
    std::uint64_t num_put = 0;        ///< puts completed
    std::uint64_t num_get = 0;        ///< gets completed
    std::uint64_t num_discarded = 0;  ///< items destroyed in the queue, not taken
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

/// The figures of one rank, of a lap (a part of a run) or of a whole run. The consumer takes the results of
/// the rank's pipeline. `stages` and `queues` have the indices of `rank_stats::all`: an element for each
/// stage and queue of the job, also for those that this rank doesn't have.
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

/// Everything known of a run: the input of `html_text` and `json_text`, and the output of `run_recorder`, a
/// report that records a run.
struct run_record {
    std::string name;     ///< given by the program
    std::string started;  ///< UTC by the system's clock: `2026-11-25T02:54:16Z`
    bool ended = false;   ///< false: the run still went on, or the process was killed
    /// Why the run ended: `finished`, `stopped`, `stopped by a token` (`run_options::stop`), `failed`, or
    /// `failed in 'decode'` with `failure::stage` of the failure. Empty: not known.
    std::string outcome = {};
    machine_info machine;                    ///< where the run took place
    build_info build;                        ///< how the program was compiled
    std::vector<run_setting> settings;       ///< given by the program
    pipeline_description description;        ///< without stages if the program gave none
    pipeline_stats total;                    ///< of the whole run, or of the laps that are known
    std::uint64_t num_failures = 0;          ///< the number of all items that failed
    std::vector<recorded_failure> failures;  ///< the first ones, by default up to 100
    std::vector<pipeline_stats> laps;        ///< in order; the last lap may be shorter
    /// The figures of each rank, if `total` and `laps` are of several processes: see `rank_stats`.
    std::vector<rank_record> ranks = {};

    [[nodiscard]] friend bool operator==(const run_record&, const run_record&) = default;
};

/// \returns what the system tells about this machine.
/// Errors: `std::bad_alloc`. Cost: reads two files of the system.
[[nodiscard]] machine_info this_machine();

/// \returns how the program was compiled: see `build_info`.
/// Errors: `std::bad_alloc`.
[[nodiscard]] build_info this_build();

namespace detail {

// \returns the record of a run that has not begun.
[[nodiscard]] run_record new_record(std::string name, pipeline_description made_of,
                                    std::vector<run_setting> settings);

// \returns `run_record::outcome`. The arguments are those of `run_report::ended_by`.
[[nodiscard]] std::string outcome_text(run_outcome how, const std::string& stage);

template <class T>
void add_up(T& sum, const T& more) {
    sum += more;
}
inline void add_up(duration& a, const duration& b) { a = detail::sum(a, b); }
// The sum has no value if one of the summands has none.
template <class T>
void add_up(std::optional<T>& sum, const std::optional<T>& more) {
    if (sum && more) {
        add_up(*sum, *more);
    } else {
        sum.reset();
    }
}

// Adds these members of `more` to those of `sum`.
template <class T, class... Members>
void add_members(T& sum, const T& more, Members T::*... members) {
    (add_up(sum.*members, more.*members), ...);
}

// Joins the samples of invocations of two laps into `later`; empties `later` if either lap has no sample.
// `elapsed`: the length of the earlier lap, which is added to the instants of the later sample.
void join_samples(const std::optional<task_samples>& earlier, std::optional<task_samples>& later,
                  duration elapsed);

// Whether the record has an element for each stage and queue of the job.
inline bool is_of_job(const rank_record& rank, const pipeline_stats& job) noexcept {
    return rank.stages.size() == job.stages.size() && rank.queues.size() == job.channels.size();
}

// Whether no time passed and nothing was done.
inline bool is_empty_lap(const pipeline_stats& lap) noexcept {
    bool nothing = lap.elapsed == duration(0);
    for (const stage_stats& s : lap.stages) nothing = nothing && s.num_tasks == 0;
    for (const channel_stats& c : lap.channels)
        nothing = nothing && (c.num_put | c.num_get | c.num_discarded) == 0;
    return nothing;
}

}  // namespace detail

/// \returns two laps of a queue as one lap; the later lap begins where the earlier lap ends. The overloads
/// for a stage, the process and a pipeline return the same for these. For statistics `a`, `b` and `c` of
/// three instants, `joined(b - a, c - b)` is `c - a`, with two exceptions. A maximum is the greater one of
/// the two laps, and the samples may have other invocations than those of `c - a`. Names, sizes and other
/// values of an instant are taken from the later lap. Stages and channels are matched by position.
/// Errors: `std::bad_alloc`.
[[nodiscard]] channel_stats joined(const channel_stats& earlier, channel_stats later);

/// \returns two laps of a stage as one. Errors: `std::bad_alloc`.
[[nodiscard]] stage_stats joined(const stage_stats& earlier, stage_stats later);

/// \returns two laps of the process as one. Errors: `std::bad_alloc`.
[[nodiscard]] process_stats joined(const process_stats& earlier, process_stats later);

/// \returns two laps of a pipeline as one. Errors: `std::bad_alloc`.
[[nodiscard]] pipeline_stats joined(const pipeline_stats& earlier, pipeline_stats later);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/run_record.ipp>
#endif

#endif
