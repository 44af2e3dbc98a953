// weir insight: predicts the rate and the states of the stages of a pipeline with other settings
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_PREDICT_HPP
#define WEIR_INSIGHT_PREDICT_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/settings.hpp>

namespace weir {

/// Predicts a run of a pipeline, by simulating its slots (workers of stages) and queues. All rules are those
/// of a run on an executor `virtual_time`. If the recording has the times of all invocations
/// (`recorded_stage::in_sequence`), all figures are those of such a run, to the nanosecond.
///
///     weir::pipeline_settings changed = recorded.settings;
///     changed.stage("decode").concurrency = 4;
///     std::cout << weir::predict(changed, recorded).rate;
///
/// Not predicted: branches, `run_options::max_bytes` and `later_stages_first`, and `max_delay` of an
/// `aggregate`. Nor the time that the library needs (unless `calibrated`), and how stages slow each other
/// down, such as by shared caches. For `stage_options::max_bytes`, all items count as of average size.
///
/// \param settings  those of the recording, with changes; names and roles of the stages remain.
/// \param from      the recording, whose times and results the simulated stages take.
/// \returns the rate and the statistics of the simulated run.
/// Errors: `std::invalid_argument` for settings that no pipeline can have, such as a concurrency of 0, and
///         for a recording of other stages; for `items` below 2, for `skipped` of 0 or not below `items`, and
///         for negative numbers. The message names the stage or the option. `std::bad_alloc`.
/// Cost:   about 80 ns for each item and stage, times `1 + resamples`.
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

// The mean of the rates of a prediction and of its resamples. The rate of one simulation varies by chance: by
// 3 % for log-normal times.
double mean_rate(const prediction& p) noexcept;

// The same as weir::calibrated. `today`: the prediction that `predict` returns for the settings of `from`,
// with the same `options`.
recording calibrated(recording from, const prediction& today, predict_options options);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/predict.ipp>
#endif

#endif
