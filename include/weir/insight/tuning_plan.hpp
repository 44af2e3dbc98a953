// weir insight, internal: the settings that a tuner aims at, and the changes of a run to them, within budgets
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNING_PLAN_HPP
#define WEIR_INSIGHT_TUNING_PLAN_HPP

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>  // for std::size_t
#include <vector>   // for std::vector

namespace weir::detail {

// The limits within which a tuner plans settings. `num_slots`, `items`: 0 is no limit.
struct plan_limits {
    std::size_t num_slots = 0;       // slots (workers) of all stages together
    std::size_t items = 0;           // the capacities of all queues, and an item for each slot
    std::size_t threads = 0;         // of the thread pool that may be changed; 0 if none may be
    std::size_t pool = 0;            // the index of this pool in `pipeline_settings::pools`
    std::vector<bool> fixed_slots;   // for each stage: the number of its slots can't be changed
    std::vector<bool> fixed_room;    // for each stage: the queue behind it can't be changed, or is missing
    std::vector<double> per_item;    // for each stage: its invocations, divided by the pipeline's results
    std::size_t most_slots = 64;     // the most slots of a stage
    std::size_t most_capacity = 64;  // the greatest capacity of a queue
};

// The resources that settings take.
struct resources {
    std::size_t num_slots = 0;
    std::size_t places = 0;  // the capacities of all queues, in items
    std::size_t threads = 0;

    std::size_t items() const noexcept { return places + num_slots; }  // items in flight at most
};
resources resources_of(const pipeline_settings& settings, const plan_limits& limits);
bool is_within(const resources& used, const plan_limits& limits) noexcept;

// The predicted rate of these settings, items per second. Predictions from one recording (a sample of a run's
// times) use the same random draws of times, so that their rates can be compared.
double planned_rate(const pipeline_settings& settings, const recording& from);

// Finds settings with nearly the greatest rate within the limits, and hardly more resources than this rate
// takes:
// 1. Begins with one slot for each stage, small capacities, and all threads; fixed numbers remain.
// 2. Adds a slot, again and again, to the stage whose slots allow the least rate. Stops at the limits, or
//    when a stage with fixed slots or the number of threads limits the rate.
// 3. Tries more slots for a stage, a greater capacity of a queue, and greater capacities of all queues. Makes
//    the change with the greatest predicted rate, again and again, as long as the rate rises.
// 4. Lowers the numbers of slots, the capacities and the threads, as long as the rate hardly falls. The queue
//    before the consumer keeps its capacity as far as the limits allow.
// The settings of the recording if no rate can be predicted: see why_refused().
// Source of step 2: B. Fox, "Discrete optimization via marginal analysis", Management Science 13 (1966).
pipeline_settings best_settings(const recording& from, const plan_limits& limits);

// Throws std::invalid_argument unless `now` can be later statistics of the run of `before`: of the same
// stages, with no less time and no fewer items. `before` without stages: there are no earlier statistics.
void check_same_run(const pipeline_stats& before, const pipeline_stats& now);

// Whether the numbers of slots (workers), the capacities and the threads are the same. Other settings don't
// count: they are estimates, which differ from lap (a measured part of the run) to lap.
bool are_same(const pipeline_settings& a, const pipeline_settings& b);
bool has_settings(const std::vector<pipeline_settings>& all, const pipeline_settings& one);

// Returns `from`, but each number of slots, capacity and number of threads is at most that of `to`.
pipeline_settings reduced(const pipeline_settings& from, const pipeline_settings& to);

// Brings settings within the limits: lowers the threads; and, again and again, the greatest number of slots
// or capacity.
// Errors: std::invalid_argument if the settings exceed the limits though no number can be lowered: each is 1,
//         or fixed.
pipeline_settings fitted(pipeline_settings settings, const plan_limits& limits);

// The resources that a run uses at the end of a lap. Slots that were removed and have not ended yet count,
// and items above a capacity that was lowered. Requires that no setting was changed during `lap`: its
// figures would mix both settings.
resources resources_in_use(const pipeline_settings& current, const plan_limits& limits,
                           const pipeline_stats& now, const pipeline_stats& lap);

// Returns the changes that can be made now: first reductions, then as many increases as fit into the limits
// beside the resources in use. What a reduction frees counts as in use until a later lap shows it free.
// `reached`: the current settings; set to those with the changes.
std::vector<setting_change> changes_towards(const pipeline_settings& target, pipeline_settings& reached,
                                            const plan_limits& limits, resources used);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/tuning_changes.ipp>
#include <weir/insight/tuning_plan.ipp>
#endif

#endif
