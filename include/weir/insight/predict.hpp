// weir insight: predicts the rate of a pipeline with other settings, and what each change of them would bring
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_PREDICT_HPP
#define WEIR_INSIGHT_PREDICT_HPP

#include <weir/insight/recording.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// Predicts a run of a pipeline, by simulating its slots (workers of stages) and queues. All rules are those
/// of a run on an executor `virtual_time`, whose clock is simulated. If the recording has the times of all
/// invocations (`recorded_stage::in_sequence`), all figures are those of such a run, to the nanosecond.
///
///     weir::pipeline_settings changed = recorded.settings;
///     changed.stage("decode").concurrency = 4;
///     std::cout << weir::predict(changed, recorded).rate;
///
/// Not predicted: branches, `run_options::max_bytes` and `later_stages_first`, `max_delay` of an
/// `aggregate`, and pauses (`run::pause`). The items that a `traverse` adds, and those that a `cache`
/// repeats, count as if the stages before made them. Nor the time that the library needs (unless
/// `calibrated`), and how stages or slots slow each other down, such as by shared caches or locks. For
/// `stage_options::max_bytes`, all items count as of average size.
///
/// \param settings  those of the recording, with changes; names and roles of the stages remain.
/// \param from      the recording of a run, whose times and results the simulated stages take.
/// \param options   if N slots of a stage work at once, choose at least 5 N items, and skip 2 N.
/// \returns the rate and the statistics of the simulated run.
/// Errors: `std::invalid_argument` for settings that no pipeline can have, such as a concurrency of 0, and
///         for a recording of other stages; for `items` below 2, for `skipped` of 0 or not below `items`, and
///         for negative numbers. The message names the stage or the option. `std::bad_alloc`.
/// Cost:   about 80 ns for each simulated invocation, times `1 + resamples`. Each stage has `items`
///         invocations. If an item of the consumer is a batch of 256, or if a filter drops 255 of 256 items,
///         the stages before have 256 times as many.
/// Source of the interval: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of
///         Statistics 7 (1979).
[[nodiscard]] prediction predict(const pipeline_settings& settings, const recording& from,
                                 const predict_options& options = {});

/// Adds to a recording the time that the library itself needs for each invocation: to move the item and to
/// wake threads. This overhead is estimated so that the prediction of the run's own settings has the measured
/// rate. For tasks below about 200 us, the overhead makes predictions of changed settings more accurate.
///
/// \param from  a recording whose `rate` is known.
/// \returns the recording with a `recorded_stage::overhead`, the same for all stages; 0 if no overhead
///          explains the measured rate. The recording unchanged, if the measured rate is unknown, or if this
///          rate is not below both `prediction::low` and the mean of the predicted rates.
/// Errors: as `predict`.
/// Cost:   that of at most `15 + resamples` simulations.
[[nodiscard]] recording calibrated(recording from, const predict_options& options = {});

namespace detail {

// The mean of the rates of a prediction and of its resamples (simulations with samples drawn at random). The
// rate of one simulation varies by chance: by 3 % for log-normal times.
double mean_rate(const prediction& p) noexcept;

// Of a simulation that must not take long: `most` items; fewer, but at least 40, if an item of the consumer
// needs more than 20 invocations (`tasks`). A tenth of the items is skipped.
predict_options short_simulation(double tasks, double most) noexcept;

// How many invocations all stages, the consumer included, need for one item of the consumer. 1 if
// `recording::num_items` is unknown.
double tasks_per_item(const recording& from) noexcept;

// The mean time of an invocation in the sample, in seconds.
double mean_seconds(const recorded_stage& stage) noexcept;

// N slots that need equal times finish N items together: a wave. A simulation that begins or ends within a
// wave gives a wrong rate, if it has few waves.
// \returns the options. If `items` is below 20 N for the stage with most slots at work, `items` and `skipped`
//          are multiples of N: at least 5 N and 2 N.
predict_options in_whole_waves(predict_options how, const pipeline_settings& settings,
                               const recording& from) noexcept;

// The same as weir::calibrated. `today`: the prediction that `predict` returns for the settings of `from`,
// with the same `options`.
recording calibrated(recording from, const prediction& today, predict_options options);

}  // namespace detail

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
    consumer,          ///< the average time of the consumer, which takes the results; `value`: in seconds
    source,            ///< the source takes no time; no `value`
    max_bytes,         ///< the queue behind the stage has no limit of bytes; no `value`
};

/// One change of the settings of a pipeline.
struct setting_change {
    change_kind kind = change_kind::faster;  ///< what changes
    std::string stage = {};                  ///< the name of the stage; empty if the kind needs none
    double value = 0;                        ///< the new number, seconds or share: see `change_kind`
    std::size_t pool = 0;                    ///< the index of the thread pool, for `change_kind::threads`

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
///          the time; twice the slots, if their number can change; completion order. For each queue: a
///          greater capacity; no limit of bytes. Greater capacities of all queues at once. Half and twice the
///          size of batches. Twice the threads of each pool. A source, and a consumer, that takes no time. A
///          change to what the run has already is left out.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::vector<setting_change> usual_changes(const recording& from);

/// Options of `what_if`.
struct what_if_options {
    std::vector<setting_change> changes = {};  ///< the changes to predict; if empty, `usual_changes`
    /// The options of each prediction. If hundreds of slots of a stage work at once, a prediction simulates
    /// more than `items` items: 5 for each of these slots.
    predict_options simulation = {.resamples = 10};
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
/// The run itself is predicted first. No change is predicted, and `refused` says why, in three cases:
/// - A stage with recorded times, not `in_sequence`, has fewer invocations than `fewest_tasks`.
/// - The run's own prediction has no rate: the consumer got no more than `predict_options::skipped` items. A
///   simulated source whose end is unknown ends after 10^7 items: by default, batches of 50,000 have no rate.
/// - The predicted rate (the mean of the prediction and its resamples) differs from a known measured rate by
///   more than `tolerance`, and the measured rate is not between `prediction::low` and `high`.
///
/// \returns the effects, the greatest gain first.
/// Errors: as `predict` and `with_change`, also for changes that are not predicted. `std::invalid_argument`
///         for a negative `tolerance` or `fewest_tasks`.
/// Cost:   `1 + resamples` simulations for each change and for the run itself. With `calibrate` also those of
///         `calibrated`, and again `1 + resamples` for the run, unless the overhead is 0.
[[nodiscard]] what_if_result what_if(const recording& from, const what_if_options& options = {});

namespace detail {

// The result of what_if() without the effects of changes. Throws std::invalid_argument for a wrong change.
what_if_result result_of_today(const std::vector<setting_change>& changes, const recording& from,
                               const what_if_options& options);

// Fills in `changes` and `overhead` of the result. `today`: the prediction of `from` with its own settings.
void add_effects(what_if_result& result, const std::vector<setting_change>& changes, const recording& from,
                 const prediction& today, const predict_options& options);

// The same as what_if() with these changes and without calibration. `options.changes` are not used.
what_if_result effects_of(const std::vector<setting_change>& changes, const recording& from,
                          const what_if_options& options);

// The number of elements in one item at the consumer: the product of the batch sizes of the aggregates. Each
// disaggregate, a stage that takes batches apart, removes the factor of the nearest aggregate before it that
// has no disaggregate yet.
double elements_per_item(const pipeline_settings& settings);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/predict.ipp>
#include <weir/insight/what_if.ipp>
#endif

#endif
