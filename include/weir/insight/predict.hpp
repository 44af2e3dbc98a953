// weir insight: predicts the rate and the states of the stages of a pipeline with other settings
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_PREDICT_HPP
#define WEIR_INSIGHT_PREDICT_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/settings.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot_times.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// Options of `predict`.
struct predict_options {
    std::uint64_t items = 2'000;    ///< the number of items that the consumer gets, at least 2
    std::uint64_t skipped = 200;    ///< the rate is that after these items, at least 1 and less than `items`
    duration until = duration::max();  ///< the simulated run is stopped after this time
    std::uint64_t seed = 1;         ///< of the draws from the samples; predictions with one seed can be compared
    std::size_t resamples = 0;      ///< how often the samples are drawn anew for the interval; 0: no interval
};

/// The statistics of a stage in a prediction.
struct predicted_stage {
    std::string name;
    std::uint64_t num_tasks = 0;  ///< invocations finished
    slot_times times{};           ///< the times of its slots, summed
};

/// The statistics of the queue behind a stage in a prediction: see `channel_stats`.
struct predicted_queue {
    std::string name;
    std::size_t size = 0;
    std::uint64_t num_put = 0;
    std::uint64_t num_get = 0;
    duration put_wait{};
    duration put_blocked{};
    duration get_blocked{};
    duration empty{};
};

/// The result of `predict`.
struct prediction {
    double rate = 0;                      ///< items per second that the consumer gets
    double low = 0;                       ///< with `resamples`: the rate lies between these two
    double high = 0;                      ///< in 9 of 10 cases
    std::vector<double> resampled;        ///< the rate with each resample, in the same order for one seed
    duration elapsed{};                   ///< from the start to the end
    std::uint64_t num_items = 0;          ///< items that the consumer got
    std::vector<predicted_stage> stages;  ///< source, stages, sink, consumer
    std::vector<predicted_queue> queues;  ///< behind each stage but the consumer
};

/// Predicts a run of a pipeline with these settings, by simulating its slots and queues. All rules are those of
/// a run on virtual time: with the times of each invocation in sequence, all figures are those of such a run,
/// to the nanosecond.
///
///     weir::pipeline_settings changed = recorded.settings;
///     changed.stage("decode").concurrency = 4;
///     std::cout << weir::predict(changed, recorded).rate;
///
/// Not predicted: branches, limits of bytes, priorities, time that the library needs, and how stages slow each
/// other down by shared caches or memory.
///
/// Errors: `std::invalid_argument` for settings that no pipeline can have, for a recording of other stages, and
///         for options that make no sense; the message names the stage. `std::bad_alloc`.
/// Cost: about 100 ns for each item and stage, times `1 + resamples`.
/// Source of the interval: B. Efron, "Bootstrap methods: another look at the jackknife", Ann. Statist. 7 (1979).
[[nodiscard]] prediction predict(const pipeline_settings& settings, const recording& from,
                                 const predict_options& options = {});

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/predict.ipp>
#endif

#endif
