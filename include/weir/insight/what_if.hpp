// weir insight: predicts how much each change of the settings would bring, if predictions fit the run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_WHAT_IF_HPP
#define WEIR_INSIGHT_WHAT_IF_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/settings.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// What a `setting_change` changes, and the meaning of its `value`.
enum class change_kind {
    faster,            ///< the time of the stage; `value`: the share that is saved, so 0.5 halves the time
    concurrency,       ///< the number of slots (workers) of the stage; `value`: the number
    capacity,          ///< the capacity of the queue behind the stage, or the least capacity of all queues
                       ///< if no stage is named; `value`: in items
    batch_size,        ///< the size of the stage's batches; `value`: in items. Predictions assume that
                       ///< other stages take equally long for a larger batch
    completion_order,  ///< the stage gives results as they are finished; no `value`
    threads,           ///< the number of threads of thread pool number `pool`; `value`: the number
    consumer,          ///< the average time of the consumer; `value`: in seconds
    source,            ///< the source takes no time; no `value`
    max_bytes,         ///< the queue behind the stage has no limit of bytes; no `value`
};

/// One change of the settings of a pipeline.
struct setting_change {
    change_kind kind = change_kind::faster;  ///< what changes
    std::string stage = {};                  ///< the name of the stage; empty if the kind needs none
    double value = 0;                        ///< the new number, seconds or share: see `change_kind`
    std::size_t pool = 0;                    ///< the index in `pools`, for `change_kind::threads`

    [[nodiscard]] friend bool operator==(const setting_change& a, const setting_change& b) noexcept {
        return a.kind == b.kind && a.stage == b.stage && detail::are_equal(a.value, b.value) &&
               a.pool == b.pool;
    }
};

/// \param from  the recording of the run; `change_kind::consumer` needs its average time of the consumer.
/// \returns the settings with the change.
/// Errors: `std::invalid_argument` if not exactly one stage has the name, if this stage has no such setting,
///         or if there is no such pool. The same for a number that is not whole, or not from 1 to 10^9; for a
///         share that is not from 0 to 1; for a negative time; and for a time above 0 if the recorded
///         consumer takes none.
[[nodiscard]] pipeline_settings with_change(pipeline_settings settings, const setting_change& change,
                                            const recording& from);

/// \returns a description of the change, such as "decode: 4 slots instead of 2".
/// Errors: `std::invalid_argument` if `before` has no such stage or pool.
[[nodiscard]] std::string describe(const setting_change& change, const pipeline_settings& before);

/// \returns the changes that `what_if` tries by default. For each stage with a function that takes time: half
///          the time; twice the slots; completion order. For each queue: a greater capacity; no limit of
///          bytes. Greater capacities of all queues at once. Half and twice the size of batches. Twice the
///          threads of each pool. A source, and a consumer, that takes no time. A change to what the run has
///          already is left out.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::vector<setting_change> usual_changes(const recording& from);

/// Options of `what_if`.
struct what_if_options {
    std::vector<setting_change> changes = {};        ///< the changes to predict; if empty, `usual_changes`
    predict_options simulation = {.resamples = 10};  ///< the options of each prediction
    double tolerance = 0.05;  ///< the greatest error of the run's own prediction, as a share of the rate
    std::uint64_t fewest_tasks = 20;  ///< the least number of invocations of a stage, unless `in_sequence`
    bool calibrate = true;            ///< whether changes are predicted with the overhead of `calibrated`
};

/// The effect of one change.
struct predicted_change {
    setting_change change;      ///< the change
    double rate = 0;            ///< the predicted rate, items per second that the consumer gets
    double low = 0;             ///< the lower end of a 90 % confidence interval for `rate`
    double high = 0;            ///< the upper end, items per second: see `prediction::high`
    double gain = 0;            ///< the increase of the rate as a share: 0.25 is a quarter more. For
                                ///< `change_kind::batch_size`: of the elements per second
    std::vector<double> gains;  ///< the gain in each resample, as a share
};

/// The result of `what_if`.
struct what_if_result {
    double measured = 0;  ///< the rate of the run, items per second; 0 if not measured
    prediction today;     ///< the prediction with the settings of the run, not calibrated
    duration overhead{};  ///< of each invocation, in the predictions of changes: see `calibrated`
    std::string refused;  ///< why no change is predicted; empty if changes are
    std::vector<predicted_change> changes;  ///< the greatest gain first; empty if `refused` says why
};

/// Predicts the effect of changes of the settings on the rate of a recorded run.
///
/// The run itself is predicted first. No change is predicted, and `refused` says why, in two cases:
/// - A stage with recorded times, not `in_sequence`, has fewer invocations than `fewest_tasks`.
/// - The predicted rate (the mean of the prediction and its resamples) differs from a known measured rate by
///   more than `tolerance`.
///
/// \returns the effects, the greatest gain first.
/// Errors: as `predict` and `with_change`, also for changes that are not predicted. `std::invalid_argument`
///         for a negative `tolerance` or `fewest_tasks`.
/// Cost:   `1 + resamples` simulations for each change and for the run itself. With `calibrate` also those of
///         `calibrated`, and again `1 + resamples` for the run, unless the overhead is 0.
[[nodiscard]] what_if_result what_if(const recording& from, const what_if_options& options = {});

namespace detail {

// The same as what_if() with these changes and without calibration. `options.changes` are not used.
what_if_result effects_of(const std::vector<setting_change>& changes, const recording& from,
                          const what_if_options& options);

// The number of elements in one item at the consumer: the product of the batch sizes of the aggregates. Each
// disaggregate removes the factor of the nearest aggregate before it that has no disaggregate yet.
double elements_per_item(const pipeline_settings& settings);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/what_if.ipp>
#endif

#endif
