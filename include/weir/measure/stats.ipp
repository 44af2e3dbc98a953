// weir measure, internal: bodies of the functions of measure/stats.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_STATS_IPP
#define WEIR_MEASURE_STATS_IPP

#include <weir/measure/stats.hpp>

#include <weir/platform/config.hpp>

namespace weir {

WEIR_INLINE double channel_stats::readiness() const noexcept {
    if (elapsed <= duration(0)) return 0;
    const double share = static_cast<double>(empty.count()) / static_cast<double>(elapsed.count());
    return detail::smaller(detail::larger(1 - share, 0.0), 1.0);
}

WEIR_INLINE double transfer_stats::hidden() const noexcept {
    if (handed_over <= duration(0)) return 0;
    const double share = static_cast<double>(exposed.count()) / static_cast<double>(handed_over.count());
    return detail::smaller(detail::larger(1 - share, 0.0), 1.0);
}

WEIR_INLINE slot_times stage_stats::times() const noexcept {
    slot_times sum;
    for (const slot_times& s : per_slot) sum += s;
    return sum;
}

WEIR_INLINE duration stage_stats::ave_time() const noexcept {
    return detail::average(task_time, detail::since(num_failures, num_tasks));
}

WEIR_INLINE duration stage_stats::ave_failure_time() const noexcept {
    return detail::average(failure_time, num_failures);
}

}  // namespace weir

#endif
