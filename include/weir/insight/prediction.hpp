// weir insight: the options and the result of a prediction
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_PREDICTION_HPP
#define WEIR_INSIGHT_PREDICTION_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot_times.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// The options of a prediction. A simulation ends when the consumer has got `items` items, when the source
/// has ended and all items are consumed, or at `until`.
struct predict_options {
    std::uint64_t items = 2'000;         ///< how many items the consumer gets at most; at least 2
    std::uint64_t skipped = 200;         ///< the first items, which the rate leaves out; 1 to `items - 1`
    duration until = (duration::max)();  ///< the simulated time after which a simulation ends
    std::uint64_t seed = 1;              ///< of the random draws of times: the same seed draws the same times
    /// The number of resamples: further simulations, each with times drawn at random from the recorded ones.
    /// Their rates give `prediction::low` and `high`. With 0, no resamples are made.
    std::size_t resamples = 0;
};

/// The statistics of a stage in a prediction.
struct predicted_stage {
    std::string name;             ///< see `stage_settings::name`
    std::uint64_t num_tasks = 0;  ///< invocations finished
    slot_times times{};           ///< the time in each state, summed over its slots (workers)
};

/// The statistics of the queue behind a stage in a prediction; the members mean the same as in
/// `channel_stats`.
struct predicted_queue {
    std::string name;           ///< the name of the stage before the queue
    std::size_t size = 0;       ///< items in the queue at the end
    std::uint64_t num_put = 0;  ///< puts completed
    std::uint64_t num_get = 0;  ///< gets completed with an item
    duration put_wait{};        ///< time that puts waited for room, summed over puts
    duration put_blocked{};     ///< time in which at least one put waited
    duration get_blocked{};     ///< time in which at least one get waited
    duration empty{};           ///< time without an item in the queue
};

/// The result of a prediction. A rate in a time of 0 is that in 1 ns.
struct prediction {
    double rate = 0;                ///< items per second after the skipped ones; 0 if all were skipped
    double low = 0;                 ///< the lower end of a 90 % confidence interval for `rate`
    double high = 0;                ///< the upper end, items per second; without resamples, both are `rate`
    std::vector<double> resampled;  ///< the rate of each resample, items per second
    duration elapsed{};             ///< from the start to the end of the simulated run
    std::uint64_t num_items = 0;    ///< items that the consumer got
    std::vector<predicted_stage> stages;  ///< as `pipeline_settings::stages`: the consumer is the last
    std::vector<predicted_queue> queues;  ///< of each stage but the consumer, in their order
};

}  // namespace weir

#endif
