// weir insight: the reason why a pipeline is not faster, and the change that would help most
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_VERDICT_HPP
#define WEIR_INSIGHT_VERDICT_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/what_if.hpp>
#include <weir/measure/stats.hpp>

#include <optional>  // for std::optional
#include <string>    // for std::string
#include <string_view>  // for std::string_view

namespace weir {

/// What limits the rate of a pipeline.
enum class limit_cause {
    stage,     ///< one stage: its function works or awaits
    room,      ///< too little room in the queues for times that vary
    order,     ///< a stage in order: finished items wait for slower ones before them
    batch,     ///< the size of a batch
    threads,   ///< too few threads
    source,    ///< the source
    consumer,  ///< the consumer: the pipeline keeps up
    balanced,  ///< no single change brings 5 %
    unsure,    ///< the figures don't tell
};

/// \returns the name of the cause in documents, such as "stage"; that of `threads` is "workers".
[[nodiscard]] std::string_view name_of(limit_cause cause) noexcept;

/// Why a pipeline is not faster. `print` and `sentence` are for people, the other members for programs.
struct verdict {
    limit_cause cause = limit_cause::unsure;
    std::string stage = {};      ///< the stage or queue that it is about; empty: none
    double lost = 0;             ///< the share of the time that the best change would save, 0 to 1
    std::optional<setting_change> change = std::nullopt;  ///< the change that brings most
    double gain = 0;             ///< of this change: 0.25 is a quarter more items per second
    double sure = 0;             ///< 0 to 1: the share of the resamples that give the same cause
    std::string sentence = {};   ///< cause, figures, change and gain, as one sentence
};

/// Judges the result of `what_if`: the cause is that of the change with the greatest gain.
/// \param from  the recording that was used.
/// Cost: that of a few string operations.
[[nodiscard]] verdict judge(const what_if_result& result, const recording& from);

/// Predicts the usual changes, and judges them.
/// Errors: as `what_if`. Cost: that of some 200 predictions.
[[nodiscard]] verdict explain(const recording& from, const what_if_options& options = {});

/// Explains a run by its statistics, which also hold the times: see `record_of`.
/// \returns `limit_cause::unsure`, with the reason in `sentence`, for a run that can't be predicted: with
///          branches, without times, or with too few items.
/// Errors: `std::bad_alloc`. Cost: that of some 200 predictions.
[[nodiscard]] verdict explain(const pipeline_stats& stats);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/verdict.ipp>
#endif

#endif
