// weir insight: a recording of a run: its settings, and a sample of the times of each stage
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RECORDING_HPP
#define WEIR_INSIGHT_RECORDING_HPP

#include <weir/insight/settings.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

#include <cstdint>  // for std::uint32_t, std::uint64_t
#include <vector>   // for std::vector

namespace weir {

/// One invocation of a stage's function.
struct recorded_task {
    duration run{};             ///< the time in which the function had a thread
    duration await{};           ///< the time in which the function was suspended, after `run`
    std::uint32_t results = 1;  ///< items that the invocation gave; 0 if it dropped its item or failed
    bool failed = false;        ///< whether the function threw

    [[nodiscard]] friend bool operator==(const recorded_task&, const recorded_task&) = default;
};

/// A sample of the invocations of one stage's function.
struct recorded_stage {
    std::vector<recorded_task> tasks = {};  ///< the sample; empty if the stage takes no time
    std::uint64_t num_tasks = 0;            ///< the number of invocations that the sample represents
    std::uint64_t num_failures = 0;         ///< how many of these failed

    /// Whether predictions use the sample in sequence: item k, counted from 0, takes the times and results
    /// `tasks[k % size]`. If false, the order is random.
    bool in_sequence = false;

    /// Whether `tasks` are no random sample, but quantiles of the times of all invocations, at equal steps of
    /// probability: `record_of` makes these from a histogram. Then a mean over `tasks` is as certain as one
    /// over all invocations.
    bool is_even = false;

    /// For `stage_role::aggregate`, if batches differ in size: a sample of the batch sizes, in random order.
    /// The average of the sample is `stage_settings::batch_size`. A prediction with another `batch_size`
    /// multiplies each size by the ratio of the two.
    std::vector<std::uint32_t> batch_sizes = {};

    /// The time that each invocation takes beyond its recorded times: see `calibrated`. Not multiplied by
    /// `stage_settings::time_factor`, except that a factor of 0 removes the overhead as well.
    duration overhead{};

    [[nodiscard]] friend bool operator==(const recorded_stage&, const recorded_stage&) = default;
};

/// A recording of a run.
struct recording {
    pipeline_settings settings;          ///< of the run
    std::vector<recorded_stage> stages;  ///< one for each element of `settings.stages`
    double rate = 0;                     ///< items per second since the first item came; 0 if unknown
    std::uint64_t num_items = 0;         ///< items that the consumer got

    [[nodiscard]] friend bool operator==(const recording&, const recording&) = default;
};

/// Makes a recording of a run from its statistics. If the run kept samples (`run_options::recording`), the
/// recording has these: the times of each invocation with its number of results, the sizes of batches, and
/// the times of the consumer. If a sample lacks some invocations, its times are scaled, and some of its
/// invocations are replaced by others of the sample. The mean time and the mean number of results are then
/// those of all invocations.
///
/// Without samples, the distribution of the times of each stage is that of its histogram, and some things are
/// estimated:
/// - Each task has the same ratio of `run` to `await`: that of the stage's summed times.
/// - The numbers of results of two tasks differ by at most 1; their average is exact.
/// - The consumer takes the same time for each item: the average.
/// - All batches have the same size: the average.
///
/// \param stats  of a whole run, or of a lap (a part of a run): the difference of two `run::stats`.
/// \returns the recording.
/// Errors: `std::invalid_argument` if the run can't be predicted, for example because it has branches or no
///         histograms, or because no item has reached the consumer; the message says why. `std::bad_alloc`.
[[nodiscard]] recording record_of(const pipeline_stats& stats);

namespace detail {

// Whether some invocation of the sample has a result. True without a sample: each invocation then has one
// result.
bool gives_items(const recorded_stage& stage) noexcept;

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/recording.ipp>
#endif

#endif
