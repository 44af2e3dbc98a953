// weir insight: predicts how much each change of the settings would bring, if the run can be explained
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_WHAT_IF_HPP
#define WEIR_INSIGHT_WHAT_IF_HPP

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/settings.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// What a `setting_change` changes.
enum class change_kind {
    faster,            ///< the stage takes less time: `value` is the share that is saved, 0.5: half the time
    concurrency,       ///< the stage has `value` slots
    capacity,          ///< the queue behind the stage has `value` places; without a stage: every queue
    batch_size,        ///< the aggregate makes batches of `value` items, which take as long as before
    completion_order,  ///< the stage gives its results as they are finished
    threads,           ///< pool number `pool` has `value` threads
    consumer,          ///< the consumer is busy for `value` seconds with each item
    source,            ///< the source takes no time
};

/// One change of the settings of a pipeline.
struct setting_change {
    change_kind kind = change_kind::faster;
    std::string stage = {};  ///< the name of the stage; empty: see `change_kind`
    double value = 0;
    std::size_t pool = 0;  ///< for `change_kind::threads`

    [[nodiscard]] friend bool operator==(const setting_change&, const setting_change&) = default;
};

/// Returns the settings with the change. `from` has the times of the consumer, for `change_kind::consumer`.
/// Errors: `std::invalid_argument` if there is no such stage or pool, or if the stage or value does not fit.
[[nodiscard]] pipeline_settings with_change(pipeline_settings settings, const setting_change& change,
                                            const recording& from);

/// \returns a description of a change, such as "decode: 4 slots instead of 2".
[[nodiscard]] std::string describe(const setting_change& change, const pipeline_settings& before);

/// The changes that `what_if` tries by default: each stage twice as fast, and with twice the slots; more room in
/// each queue, and in all; other orders and batch sizes; more threads; a source and a consumer without time.
[[nodiscard]] std::vector<setting_change> usual_changes(const recording& from);

/// Options of `what_if`.
struct what_if_options {
    std::vector<setting_change> changes = {};  ///< empty: `usual_changes`
    predict_options simulation = {.resamples = 10};
    double tolerance = 0.05;       ///< the greatest relative error of the prediction of the run itself
    std::uint64_t fewest_tasks = 30;  ///< a stage with fewer recorded invocations can't be predicted
};

/// The effect of one change.
struct predicted_change {
    setting_change change;
    double rate = 0;             ///< predicted items per second that the consumer gets
    double low = 0;              ///< the rate lies between these two
    double high = 0;             ///< in 9 of 10 cases
    double gain = 0;             ///< 0.25: a quarter more items per second; with batches, elements per second
    std::vector<double> gains;   ///< the gain of each resample
};

/// The result of `what_if`.
struct what_if_result {
    double measured = 0;         ///< the rate of the run, items per second; 0: unknown
    prediction today;            ///< that of the settings of the run
    std::string refused;         ///< why the run can't be explained; empty: it can be
    std::vector<predicted_change> changes;  ///< the greatest gain first; none if refused
};

/// Predicts what changes of the settings would bring.
///
/// The settings of the run are predicted first. If this prediction differs from the measured rate by more than
/// `tolerance`, or if there are too few invocations, the result says so (`refused`), and has no changes.
///
/// Errors: as `predict` and `with_change`. Cost: that of `1 + resamples` predictions for each change.
[[nodiscard]] what_if_result what_if(const recording& from, const what_if_options& options = {});

namespace detail {

// The number of elements in one item at the consumer: the sizes of the batches that no disaggregate takes apart.
double elements_per_item(const pipeline_settings& settings);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/what_if.ipp>
#endif

#endif
