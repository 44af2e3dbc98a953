// weir insight, internal: the changes that bring a run to other settings without exceeding a budget meanwhile
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNING_CHANGES_HPP
#define WEIR_INSIGHT_TUNING_CHANGES_HPP

#include <weir/insight/settings.hpp>
#include <weir/insight/tuning_plan.hpp>
#include <weir/insight/what_if.hpp>
#include <weir/measure/stats.hpp>

#include <vector>  // for std::vector

namespace weir::detail {

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
// and items above a capacity that was lowered. Requires that nothing was changed during the lap.
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
#endif

#endif
