// weir insight, internal: the settings that a tuner aims at: found by predictions, within budgets
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNING_PLAN_HPP
#define WEIR_INSIGHT_TUNING_PLAN_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/settings.hpp>

#include <cstddef>  // for std::size_t
#include <vector>   // for std::vector

namespace weir::detail {

// The limits of the settings of a plan. 0 as a budget: no limit.
struct plan_limits {
    std::size_t num_slots = 0;       // of all stages together
    std::size_t items = 0;           // the room of all queues, and an item for each slot
    std::size_t threads = 0;         // of the pool that may be changed; 0: it may not
    std::size_t pool = 0;            // the index of this pool
    std::vector<bool> fixed_slots;   // for each stage: the number of its slots can't be changed
    std::vector<bool> fixed_room;    // for each stage: the queue behind it can't be changed, or is none
    std::vector<double> per_item;    // for each stage: invocations for an item of the consumer
    std::size_t most_slots = 64;     // of a stage
    std::size_t most_capacity = 64;  // of a queue
};

// The resources that settings take.
struct resources {
    std::size_t num_slots = 0;
    std::size_t places = 0;  // the room of all queues
    std::size_t threads = 0;

    std::size_t items() const noexcept { return places + num_slots; }
};
resources resources_of(const pipeline_settings& settings, const plan_limits& limits);
bool is_within(const resources& used, const plan_limits& limits) noexcept;

// The rate of these settings, items per second. Rates of one recording are compared with the same draws.
double planned_rate(const pipeline_settings& settings, const recording& from);

// Finds settings with nearly the greatest rate within the limits, and hardly more resources than this takes:
// 1. One slot for each stage, and little room.
// 2. One more slot, again and again, for the stage whose slots give the least rate, as long as nothing that
//    can't be changed limits the rate.
// 3. Of one more slot, more room and one more thread, the one that brings most by prediction, while this is
//    worthwhile.
// 4. Fewer of everything, as long as this costs hardly anything.
// Source of step 2: B. Fox, "Discrete optimization via marginal analysis", Management Science 13 (1966).
pipeline_settings best_settings(const recording& from, const plan_limits& limits);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/tuning_plan.ipp>
#endif

#endif
