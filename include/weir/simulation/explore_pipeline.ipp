// weir simulation, internal: bodies of the functions of simulation/explore_pipeline.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_PIPELINE_IPP
#define WEIR_SIMULATION_EXPLORE_PIPELINE_IPP

#include <weir/simulation/explore_pipeline.hpp>

#include <weir/platform/config.hpp>

namespace weir::simulation {

WEIR_INLINE void detail::demand_identity(bool right, const char* what, const std::string& name,
                                         const char* identity) {
    if (!right) {
        throw failed_check(std::string("the statistics contradict themselves: ") + what + " '" + name +
                           "': " + identity);
    }
}

WEIR_INLINE void check_identities(const pipeline_stats& stats) {
    constexpr duration none(0);
    for (const stage_stats& stage : stats.stages) {
        const auto holds = [&stage](bool right, const char* identity) {
            detail::demand_identity(right, "stage", stage.name, identity);
        };
        for (const slot_times& each : stage.per_slot) {
            for (const auto& state : weir::detail::states_by_number) {
                holds(each.*state.time >= none, "no slot was in a state for less than no time");
            }
            holds(each.total() == stage.elapsed, "the states of a slot sum to the time that passed");
        }
        holds(stage.busy == stage.times().busy(), "the slots are busy while they run or await");
        holds(stage.num_failures <= stage.num_tasks, "no more fail than are tried");
        holds(stage.task_times.count() == stage.num_tasks - stage.num_failures, "each success has a time");
    }
    for (const channel_stats& queue : stats.channels) {
        const auto holds = [&queue](bool right, const char* identity) {
            detail::demand_identity(right, "queue", queue.name, identity);
        };
        holds(queue.num_put == queue.num_get + queue.num_discarded + queue.size,
              "what was put was got, was discarded, or is inside");
        holds(none <= queue.empty && queue.empty <= queue.elapsed, "it is empty for a part of the time");
        holds(none <= queue.put_blocked && queue.put_blocked <= queue.put_wait,
              "who waits alone waits as long as all do");
        holds(none <= queue.get_blocked && queue.get_blocked <= queue.get_wait,
              "who waits alone waits as long as all do");
        holds(queue.put_blocked + queue.empty <= queue.elapsed, "nobody waits to put while it is empty");
        holds(queue.get_blocked <= queue.empty, "nobody waits to get while something is there");
        holds(queue.put_waits.count() == queue.num_put && queue.get_waits.count() == queue.num_get,
              "each operation has a wait");
    }
    if (!stats.first_item) return;
    const auto holds = [](bool right, const char* identity) {
        detail::demand_identity(right, "pipeline", "", identity);
    };
    const first_item_stats& first = *stats.first_item;
    holds(first.after >= none && none <= first.since && first.since <= stats.elapsed,
          "the first item came while it ran");
    holds(first.num_items <= stats.num_items && stats.num_items - first.num_items <= 1,
          "what came since is all but the first item");
}

}  // namespace weir::simulation

#endif
