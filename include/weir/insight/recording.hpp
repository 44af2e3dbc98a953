// weir insight: a recording of a run: samples of the times of its stages, and its settings
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RECORDING_HPP
#define WEIR_INSIGHT_RECORDING_HPP

#include <weir/insight/settings.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

#include <cstdint>  // for std::uint32_t, std::uint64_t
#include <vector>   // for std::vector

namespace weir {

/// One invocation of a stage's function, as a recording keeps it.
struct recorded_task {
    duration run{};             ///< the time in which the function had a thread
    duration await{};           ///< the time in which the function was suspended
    std::uint32_t results = 1;  ///< the number of items that the stage gave on; 0: dropped or failed

    [[nodiscard]] friend bool operator==(const recorded_task&, const recorded_task&) = default;
};

/// The sample of one stage.
struct recorded_stage {
    std::vector<recorded_task> tasks;   ///< the sample; empty: the stage takes no time
    std::uint64_t num_tasks = 0;        ///< the number of invocations that the sample was drawn from
    std::uint64_t num_failures = 0;     ///< how many of these failed

    /// How a prediction uses the sample: true: invocation k, from 0, in the order in which invocations begin,
    /// takes `tasks[k % size]`; false: each takes one at random.
    bool in_sequence = false;

    [[nodiscard]] friend bool operator==(const recorded_stage&, const recorded_stage&) = default;
};

/// A recording of a run.
struct recording {
    pipeline_settings settings;          ///< of the run
    std::vector<recorded_stage> stages;  ///< one for each of `settings.stages`
    double rate = 0;                     ///< items per second that the consumer got, from the first one on
    std::uint64_t num_items = 0;         ///< items that the consumer got

    [[nodiscard]] friend bool operator==(const recording&, const recording&) = default;
};

/// Makes a recording of a run, from its statistics: of the histograms of its times, and of what its slots and
/// queues did. Of a task, `run` and `await` have the ratio of their sums. Of the consumer only the average time
/// is known. The number of threads is not known: the pool has as many as the slots need.
///
/// \param stats  of a whole run, or of a lap.
/// Errors: `std::invalid_argument` if no prediction is possible; the message says why: the run has branches, no
///         histograms, or an empty stage.
[[nodiscard]] recording record_of(const pipeline_stats& stats);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/recording.ipp>
#endif

#endif
