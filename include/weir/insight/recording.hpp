// weir insight: a recording of a run: its settings, and a sample of the times; and what predictions give
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RECORDING_HPP
#define WEIR_INSIGHT_RECORDING_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t, std::uint64_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir {

/// What a stage does with items, as far as a prediction needs it.
enum class stage_role {
    source,        ///< makes items; the first stage
    function,      ///< calls a function for each item: `pipe`, `filter`, `flat_map`, `for_each`, ...
    aggregate,     ///< makes a batch of `batch_size` items
    disaggregate,  ///< gives the elements of each batch one by one
    sink,          ///< moves each item into the queue of the consumer
    consumer,      ///< takes the items out of the pipeline; the last stage
};

/// The settings of one stage. A prediction can change all of them except `name` and `role`. Whether the run
/// can change the number of slots, `is_resizable`, limits only what `usual_changes` and a tuner try.
struct stage_settings {
    /// The name of the stage (`stage_options::name`). `record_of` names the consumer `consumer`, or
    /// `the consumer` if a stage has that name.
    std::string name;
    stage_role role = stage_role::function;  ///< what the stage does
    std::size_t concurrency = 1;             ///< the number of slots (workers), at least 1
    std::size_t capacity = 2;                ///< of the queue behind the stage, in items; at least 1
    /// How many items of average size fit into the byte limit of the queue behind the stage; 0: no such
    /// limit.
    std::size_t byte_room = 0;
    /// Whether results leave in the order of the stage's items, or as they are finished.
    weir::output_order output_order = weir::output_order::completion;
    std::size_t batch_size = 1;  ///< the number of items in a batch, at least 1; for `stage_role::aggregate`
    bool drop_last = false;      ///< whether an incomplete last batch is dropped; for `stage_role::aggregate`

    /// The times of the stage are multiplied by this factor: 0.5 halves them, and 0 removes them.
    double time_factor = 1;

    /// The index in `pipeline_settings::pools` of the thread pool that calls the function.
    std::size_t pool = 0;

    bool is_resizable = true;  ///< `run::set_concurrency` can change the number of slots

    [[nodiscard]] friend bool operator==(const stage_settings&, const stage_settings&) = default;
};

/// The settings of a pipeline without branches.
struct pipeline_settings {
    /// The source, the other stages, the sink, and the consumer, in this order.
    std::vector<stage_settings> stages;

    /// The number of threads of each thread pool that calls functions; 0 for as many as there are slots.
    std::vector<std::size_t> pools = {0};

    /// The number of items that the source makes; none if it is unknown, or if the source does not end.
    std::optional<std::uint64_t> num_items = std::nullopt;

    /// \returns the settings of the stage with this name.
    /// Errors: `std::invalid_argument` if no stage, or more than one, has the name; the message lists all
    ///         names. Lifetime: that of the element of `stages`.
    [[nodiscard]] stage_settings& stage(std::string_view name);
    /// The same as `stage` above, for constant settings.
    [[nodiscard]] const stage_settings& stage(std::string_view name) const;

    [[nodiscard]] friend bool operator==(const pipeline_settings&, const pipeline_settings&) = default;
};

/// The options of a prediction. A simulation ends when the consumer has got `items` items, when the source
/// has ended and all items are consumed, or at `until`.
struct predict_options {
    std::uint64_t items = 2'000;         ///< how many items the consumer gets at most; at least 2
    std::uint64_t skipped = 200;         ///< the first items, which the rate leaves out; 1 to `items - 1`
    duration until = (duration::max)();  ///< the simulated time after which a simulation ends
    std::uint64_t seed = 1;              ///< of the random draws of times: the same seed draws the same times
    /// The number of resamples: further simulations, each with a sample of its own, as large as the recorded
    /// sample and drawn from that at random with replacement. Their rates give `prediction::low` and `high`.
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

/// The result of a prediction. For a rate, a measured time of 0 counts as 1 ns.
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

namespace detail {

// The most slots of a stage, as a simulation takes memory and time for each slot.
inline constexpr std::size_t most_slots = 100'000;

// Throws std::invalid_argument if no pipeline can have these settings. The message names the stage.
void check_settings(const pipeline_settings& settings);

}  // namespace detail

/// One invocation of a stage's function.
struct recorded_task {
    duration run{};             ///< the time in which the function had a thread
    duration await{};           ///< the time in which the function was suspended, after `run`
    std::uint32_t results = 1;  ///< items that the invocation gave; 0 if it dropped its item or failed
    bool failed = false;        ///< whether the function threw

    [[nodiscard]] friend bool operator==(const recorded_task&, const recorded_task&) = default;
};

/// A sample of the invocations of one stage's function.
struct recorded_stage {
    std::vector<recorded_task> tasks = {};  ///< the sample; empty if the stage takes no time
    std::uint64_t num_tasks = 0;            ///< the number of invocations that the sample represents
    std::uint64_t num_failures = 0;         ///< how many of these failed

    /// Whether predictions use the sample in sequence: item k, counted from 0, takes the times and results
    /// `tasks[k % size]`. If false, the order is random.
    bool in_sequence = false;

    /// Whether `tasks` are no random sample, but quantiles of the times of all invocations, at equal steps of
    /// probability: `record_of` makes these from a histogram. Then a mean over `tasks` is as certain as one
    /// over all invocations.
    bool is_even = false;

    /// For `stage_role::aggregate`, if many batches are smaller than the largest: a sample of the sizes.
    /// Its rounded average is `stage_settings::batch_size`. A simulation draws the size of each batch from
    /// the sample at random; one with another `batch_size` multiplies the size by the ratio of the two.
    std::vector<std::uint32_t> batch_sizes = {};

    /// The time that each invocation takes beyond its recorded times: see `calibrated`. Not multiplied by
    /// `stage_settings::time_factor`, except that a factor of 0 removes the overhead as well.
    duration overhead{};

    [[nodiscard]] friend bool operator==(const recorded_stage&, const recorded_stage&) = default;
};

/// A recording of a run.
struct recording {
    pipeline_settings settings;          ///< of the run
    std::vector<recorded_stage> stages;  ///< one for each element of `settings.stages`
    double rate = 0;                     ///< items per second since the first item came; 0 if unknown
    std::uint64_t num_items = 0;         ///< items that the consumer got

    [[nodiscard]] friend bool operator==(const recording&, const recording&) = default;
};

/// Makes a recording of a run from its statistics. If the run kept samples (`run_options::recording`), the
/// recording has these: the times of each invocation with its number of results, the sizes of batches, and
/// the times of the consumer. If a sample lacks some invocations, its times are scaled, and some of its
/// invocations are replaced by others of the sample. The mean time and the mean number of results are then
/// those of all invocations.
///
/// Without samples, the distribution of the times of each stage is that of its histogram, and some things are
/// estimated:
/// - Each task has the same ratio of `run` to `await`: that of the stage's summed times.
/// - Each failed task takes the average time of the failed ones.
/// - The numbers of results of two successful tasks differ by at most 1; their average is exact.
/// - The consumer takes the same time for each item: the average.
/// - All batches have the same size: the average.
///
/// \param stats  of a whole run, or of a lap (a part of a run): the difference of two `run::stats`.
/// \returns the recording.
/// Errors: `std::invalid_argument` if the run can't be predicted, for example because it has branches or no
///         histograms, or because no item has reached the consumer; the message says why. `std::bad_alloc`.
[[nodiscard]] recording record_of(const pipeline_stats& stats);

namespace detail {

stage_role role_of(const stage_stats& stage);

double ratio_of(std::uint64_t of, std::uint64_t to);  // 1 if `to` is 0

// Whether some invocation of the sample has a result. True without a sample: each invocation then has one
// result.
bool gives_items(const recorded_stage& stage) noexcept;

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/recording.ipp>
#include <weir/insight/settings.ipp>
#endif

#endif
