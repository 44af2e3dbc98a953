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

WEIR_INLINE double detail::share_without_thread_waits(const stage_stats& stage) noexcept {
    const slot_times times = stage.times();
    const double whole = static_cast<double>(sum(stage.task_time, stage.failure_time).count());
    const double without_thread = static_cast<double>(sum(times.runnable, times.overhead).count());
    // An invocation that began before a lap is whole in its histogram, and the times have a part of it.
    const double rest = smaller(whole - static_cast<double>(times.busy().count()), without_thread);
    return rest > 0 ? 1 - rest / whole : 1;
}

WEIR_INLINE channel_stats operator-(channel_stats later, const channel_stats& earlier) {
    detail::subtract(later, earlier, &channel_stats::elapsed, &channel_stats::num_put,
                     &channel_stats::num_get, &channel_stats::num_discarded, &channel_stats::put_wait,
                     &channel_stats::get_wait, &channel_stats::put_blocked, &channel_stats::get_blocked,
                     &channel_stats::empty);
    later.put_waits -= earlier.put_waits;
    later.get_waits -= earlier.get_waits;
    return later;
}

WEIR_INLINE transfer_stats operator-(transfer_stats later, const transfer_stats& earlier) {
    detail::subtract(later, earlier, &transfer_stats::num_copies, &transfer_stats::bytes,
                     &transfer_stats::copying, &transfer_stats::num_handed_over, &transfer_stats::handed_over,
                     &transfer_stats::exposed, &transfer_stats::num_block_waits, &transfer_stats::block_wait,
                     &transfer_stats::num_memory_waits, &transfer_stats::memory_wait);
    return later;
}

WEIR_INLINE added_stats operator-(added_stats later, const added_stats& earlier) {
    detail::subtract(later, earlier, &added_stats::num_added, &added_stats::num_discarded);
    return later;
}

WEIR_INLINE retry_stats operator-(retry_stats later, const retry_stats& earlier) {
    detail::subtract(later, earlier, &retry_stats::num_retries, &retry_stats::time);
    return later;
}

WEIR_INLINE stage_stats operator-(stage_stats later, const stage_stats& earlier) {
    detail::subtract(later, earlier, &stage_stats::elapsed, &stage_stats::num_tasks,
                     &stage_stats::num_failures, &stage_stats::task_time, &stage_stats::failure_time,
                     &stage_stats::busy);
    const std::size_t both = detail::smaller(later.per_slot.size(), earlier.per_slot.size());
    for (std::size_t i = 0; i < both; ++i) later.per_slot[i] -= earlier.per_slot[i];
    // A slot (worker) that `earlier` lacks was off since the start: subtracts the time before `earlier`.
    for (std::size_t i = both; i < later.per_slot.size(); ++i) {
        later.per_slot[i].off = detail::since(earlier.elapsed, later.per_slot[i].off);
    }
    later.task_times -= earlier.task_times;
    if (later.transfers && earlier.transfers) later.transfers = *later.transfers - *earlier.transfers;
    if (later.added && earlier.added) later.added = *later.added - *earlier.added;
    if (later.samples)
        later.samples = detail::samples_of_lap(*later.samples, earlier.samples, earlier.elapsed);
    if (later.retries && earlier.retries) later.retries = *later.retries - *earlier.retries;
    return later;
}

WEIR_INLINE first_item_stats operator-(first_item_stats later, const first_item_stats& earlier) noexcept {
    detail::subtract(later, earlier, &first_item_stats::since, &first_item_stats::num_items);
    return later;
}

WEIR_INLINE duration detail::time_before_first_get(const pipeline_stats& stats,
                                                   const channel_stats& last) noexcept {
    if (!stats.first_item) return duration(0);
    const duration before = since(stats.first_item->since, stats.elapsed);
    return since(smaller(last.get_blocked, (last.get_waits.max)()), before);
}

WEIR_INLINE pipeline_stats operator-(pipeline_stats later, const pipeline_stats& earlier) {
    later.elapsed = detail::since(earlier.elapsed, later.elapsed);
    const std::size_t both = detail::smaller(later.stages.size(), earlier.stages.size());
    for (std::size_t i = 0; i < both; ++i) {
        later.stages[i] = std::move(later.stages[i]) - earlier.stages[i];
    }
    const std::size_t queues = detail::smaller(later.channels.size(), earlier.channels.size());
    for (std::size_t i = 0; i < queues; ++i) {
        later.channels[i] = std::move(later.channels[i]) - earlier.channels[i];
    }
    if (later.process && earlier.process) later.process = *later.process - *earlier.process;
    later.num_items = detail::since(earlier.num_items, later.num_items);
    if (later.first_item && earlier.first_item) later.first_item = *later.first_item - *earlier.first_item;
    if (later.consumer)
        later.consumer = detail::samples_of_lap(*later.consumer, earlier.consumer, earlier.elapsed);
    return later;
}

}  // namespace weir

#endif
