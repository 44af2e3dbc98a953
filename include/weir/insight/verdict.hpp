// weir insight: the reason why a pipeline is not faster, and what would help most; also in short, for reports
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_VERDICT_HPP
#define WEIR_INSIGHT_VERDICT_HPP

#include <weir/insight/limits.hpp>
#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/measure/clock.hpp>
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
/// the same gain (within 1 %), more slots of a stage count first; then a source or consumer that takes no
/// time, more threads, a faster function, and the others; queues and batches last. The gain of larger batches
/// is that of stages that take as long for each batch, whatever its size.
/// `verdict::change` is that change, or one that is easier to make, with the same cause and most of the gain;
/// none for `balanced`. `verdict::sure` is the share of `predict_options::resamples` in which a change with
/// this cause brings most, or nearly as much; for `balanced`, in which no change brings 7 %. Without
/// resamples (predictions from samples drawn at random), `verdict::sure` is 1.
///
/// \param from  the recording (settings and times of a run) that the result was made from.
/// \returns the verdict. `verdict::cause` is `limit_cause::unsure` if `verdict::sure` is below 0.6, or if the
///          result has no changes.
/// Errors: `std::bad_alloc`.
[[nodiscard]] verdict judge(const what_if_result& result, const recording& from);

/// Predicts the effect of changes, and judges the result.
/// \returns the verdict: see `judge`.
/// Errors: as `what_if`.
/// Cost:   that of some 200 simulations, 0.1 s for five stages, and with the square of the number of stages;
///         for batches, times their size: see `predict`.
[[nodiscard]] verdict explain(const recording& from, const what_if_options& options = {});

/// Explains a run by its statistics: predicts from the recording that `record_of` makes of them. Looks also
/// for causes that predictions don't cover, such as `limit_cause::processors` and `limit_cause::copies`.
///
/// A run that can't be predicted, or whose prediction doesn't fit, is judged by the states of its slots
/// (workers) and the use of processors. The verdict then is less sure, has no change, and `lost` is the share
/// of the time in which the consumer waits; 0 if the last stage uses the items itself, as `for_each` does.
/// `verdict::sentence` says why the run can't be predicted.
/// \returns the verdict. `limit_cause::unsure` if even the states tell nothing; the sentence then doesn't say
///          why the run can't be predicted.
/// Errors: `std::bad_alloc`.
/// Cost:   that of some 200 simulations, 0.1 s for five stages, and with the square of the number of stages;
///         for batches, times their size: see `predict`.
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

// The verdict by the states of the slots: limit_by_states(). `why`: why the run can't be predicted.
verdict verdict_of_states(const pipeline_stats& stats, std::string why);

}  // namespace detail

/// Makes the verdict that tables, log lines and all other reports show: what limits the rate of a run. The
/// same as `explain`, but with fewer items in each simulation, with `predict_options::resamples` only for the
/// run itself and the two most likely causes, and without `what_if_options::calibrate`.
///
///     if (const auto v = weir::brief_verdict(run.stats())) std::cerr << v->sentence << '\n';
///
/// \param stats  of a whole run, or of a lap (a part of a run): the difference of two `run::stats`.
/// \returns the verdict. None if the consumer has got fewer than 20 items; if a stage has finished 1 to 19
///          invocations; or if the simulations would take longer than `stats.elapsed`. If the run can't be
///          predicted, or the simulations would take longer than 0.1 s, as with more than about 16 stages,
///          the verdict is made from the states of its slots (workers of stages); none if these tell nothing.
///          `explain` returns a verdict in all these cases; its cause may be `limit_cause::unsure`.
/// Errors: `std::bad_alloc`. Cost: about 10 to 20 ms for five stages; it grows with the square of the number
///         of stages, up to 0.1 s.
[[nodiscard]] std::optional<verdict> brief_verdict(const pipeline_stats& stats);

namespace detail {

// The estimated time of the simulations of `brief_verdict`; 0 if the run can't be predicted. The estimate is
// the same on each machine, so that a run with a simulated clock (`virtual_time`) has the same reports
// everywhere.
duration cost_of_brief_verdict(const pipeline_stats& stats);

// Returns the sentence of `brief_verdict`; an empty string if there is no verdict.
std::string brief_sentence(const pipeline_stats& stats);

// If a program refers to `is_set`, its initialization before `main` makes WEIR_DIAGNOSE=1 print the brief
// verdict at the end of a run. A template, so that other programs don't compile that verdict.
template <class T>
struct verdict_of_diagnosis {
    // Release: pairs with the acquire load in conclusion_text(), which calls the function at the end of a
    // run. Only the pointer is published.
    static inline const bool is_set =
        (the_verdict_of_diagnosis.store(&brief_sentence, std::memory_order_release), true);
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/brief_verdict.ipp>
#include <weir/insight/verdict.ipp>
#endif

#endif
