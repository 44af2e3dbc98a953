// weir insight: the reason why a pipeline is not faster, and the change that would help most
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_VERDICT_HPP
#define WEIR_INSIGHT_VERDICT_HPP

#include <weir/insight/limits.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/what_if.hpp>
#include <weir/measure/stats.hpp>

#include <optional>  // for std::optional
#include <string>    // for std::string

namespace weir {

/// Why a pipeline is not faster, and what would help.
struct verdict {
    limit_cause cause = limit_cause::unsure;  ///< what limits the rate
    std::string stage = {};  ///< the one that limits, or is before the limiting queue; empty: no single stage
    double lost = 0;         ///< the share of time that `change` saves; without a change: see `explain`
    std::optional<setting_change> change = std::nullopt;  ///< what to change; none: unknown, or none helps
    double gain = 0;            ///< the increase of the rate by this change, as a share
    double sure = 0;            ///< the share of resamples with this cause: see `judge`; by states alone, 0.7
    std::string sentence = {};  ///< all of this in a sentence, without a full stop at its end
};

/// Judges the result of `what_if`, a list of changes with their predicted gains. The cause is that of the
/// change with the greatest gain; `limit_cause::balanced` if this gain is below 5 %. Of changes with nearly
/// the same gain (within 1 %), a change to a stage counts first, and one to queues or batches last.
/// `verdict::change` is that change, or one that is easier to make, with the same cause and most of the gain;
/// none for `balanced`. `verdict::sure` is the share of `predict_options::resamples` in which a change with
/// this cause brings most, or nearly as much; for `balanced`, in which no change brings 7 %. Without
/// resamples, `verdict::sure` is 1.
///
/// \param from  the recording that the result was made from.
/// \returns the verdict. `verdict::cause` is `limit_cause::unsure` if `verdict::sure` is below 0.6, or if the
///          result has no changes.
/// Errors: `std::bad_alloc`.
[[nodiscard]] verdict judge(const what_if_result& result, const recording& from);

/// Predicts the effect of changes, and judges the result.
/// \returns the verdict: see `judge`.
/// Errors: as `what_if`. Cost: that of some 200 simulations, 0.1 s for five stages.
[[nodiscard]] verdict explain(const recording& from, const what_if_options& options = {});

/// Explains a run by its statistics: predicts from the recording that `record_of` makes of them. Looks also
/// for causes that predictions don't cover, such as `limit_cause::processors` and `limit_cause::copies`.
///
/// A run that can't be predicted, or whose prediction doesn't fit, is judged by the states of its slots
/// (workers) and the use of processors. The verdict then is less sure, has no change, and `lost` is the share
/// of the time in which the consumer waits; 0 if the pipeline ends with `for_each` or `sink_to`.
/// `verdict::sentence` says why the run can't be predicted.
/// \returns the verdict. `limit_cause::unsure` if even the states tell nothing; the sentence then doesn't say
///          why the run can't be predicted.
/// Errors: `std::bad_alloc`. Cost: that of some 200 simulations, 0.1 s for five stages.
[[nodiscard]] verdict explain(const pipeline_stats& stats);

namespace detail {

// The cause that a change of this kind would remove.
limit_cause cause_of(change_kind kind) noexcept;

// Replaces the cause, the stage and the sentence of a verdict by the reason behind the cause, if the
// statistics show a reason: see deeper_limit. `v.change` remains, unless the new cause is
// `limit_cause::processors`. Then the new `v.stage` is the stage whose functions have threads for the longest
// time. `v.change` becomes the change in `result` to a faster function of this stage, or none if `result`
// lacks this change. `v.gain` and `v.lost` become those of the new `v.change`.
void look_deeper(verdict& v, const pipeline_stats& stats, const what_if_result& result,
                 const recording& from);

// The verdict of limit_by_states(). `why`: why the run can't be predicted.
verdict verdict_of_states(const pipeline_stats& stats, std::string why);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/verdict.ipp>
#endif

#endif
