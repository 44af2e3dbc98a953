// weir report: laps that follow each other, as one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LAPS_HPP
#define WEIR_REPORT_LAPS_HPP

#include <weir/measure/figures.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir {

namespace detail {

template <class T>
void add_up(T& sum, const T& more) {
    sum += more;
}
inline void add_up(duration& a, const duration& b) { a = detail::sum(a, b); }
inline void add_up(first_item_stats& a, const first_item_stats& b) {
    detail::add_up(a.since, b.since);
    a.num_items += b.num_items;
}
template <class T>
void add_up(std::optional<T>& sum, const std::optional<T>& more) {
    if (sum && more) {
        add_up(*sum, *more);
    } else {
        sum.reset();
    }
}

// No time passed, and nothing was done in none.
inline bool is_nothing(const pipeline_stats& lap) noexcept {
    bool nothing = lap.elapsed == duration(0);
    for (const stage_stats& s : lap.stages) nothing = nothing && s.num_tasks == 0;
    for (const channel_stats& c : lap.channels)
        nothing = nothing && (c.num_put | c.num_get | c.num_discarded) == 0;
    return nothing;
}

}  // namespace detail

/// Two laps of one run, of which the second begins where the first ends, as one: what came to be from the
/// first one's begin to the second one's end. So `joined(b - a, c - b)` is `c - a`, but that the longest
/// durations are those of `b - a` and `c - b`. Names, sizes and all else that belongs to an instant are the
/// later ones. Stages and channels are matched by position. Errors: `std::bad_alloc`.
[[nodiscard]] inline channel_stats joined(const channel_stats& earlier, channel_stats later) {
    detail::add_up(later.elapsed, earlier.elapsed);
    later.num_put += earlier.num_put;
    later.num_get += earlier.num_get;
    later.num_discarded += earlier.num_discarded;
    detail::add_up(later.put_wait, earlier.put_wait);
    detail::add_up(later.get_wait, earlier.get_wait);
    detail::add_up(later.put_blocked, earlier.put_blocked);
    detail::add_up(later.get_blocked, earlier.get_blocked);
    detail::add_up(later.empty, earlier.empty);
    later.put_waits += earlier.put_waits;
    later.get_waits += earlier.get_waits;
    return later;
}

/// The same of a stage. Errors: `std::bad_alloc`.
[[nodiscard]] inline stage_stats joined(const stage_stats& earlier, stage_stats later) {
    const std::size_t both = detail::smaller(earlier.per_slot.size(), later.per_slot.size());
    for (std::size_t i = 0; i < both; ++i) later.per_slot[i] += earlier.per_slot[i];
    // Slots that came later have been off until then.
    for (std::size_t i = both; i < later.per_slot.size(); ++i)
        detail::add_up(later.per_slot[i].off, earlier.elapsed);
    detail::add_up(later.elapsed, earlier.elapsed);
    later.num_tasks += earlier.num_tasks;
    later.num_failures += earlier.num_failures;
    detail::add_up(later.task_time, earlier.task_time);
    detail::add_up(later.failure_time, earlier.failure_time);
    detail::add_up(later.busy, earlier.busy);
    later.task_times += earlier.task_times;
    if (later.transfers && earlier.transfers) {
        transfer_stats& t = *later.transfers;
        t.num_copies += earlier.transfers->num_copies;
        t.bytes += earlier.transfers->bytes;
        detail::add_up(t.copying, earlier.transfers->copying);
        t.num_handed_over += earlier.transfers->num_handed_over;
        detail::add_up(t.handed_over, earlier.transfers->handed_over);
        detail::add_up(t.exposed, earlier.transfers->exposed);
        t.num_block_waits += earlier.transfers->num_block_waits;
        detail::add_up(t.block_wait, earlier.transfers->block_wait);
        t.num_memory_waits += earlier.transfers->num_memory_waits;
        detail::add_up(t.memory_wait, earlier.transfers->memory_wait);
    }
    if (later.added && earlier.added) {
        later.added->num_added += earlier.added->num_added;
        later.added->num_discarded += earlier.added->num_discarded;
    }
    return later;
}

/// The same of the process. Errors: `std::bad_alloc`.
[[nodiscard]] inline process_stats joined(const process_stats& earlier, process_stats later) {
    detail::add_up(later.elapsed, earlier.elapsed);
    detail::add_up(later.user_time, earlier.user_time);
    detail::add_up(later.system_time, earlier.system_time);
    detail::add_up(later.minor_faults, earlier.minor_faults);
    detail::add_up(later.major_faults, earlier.major_faults);
    detail::add_up(later.voluntary_switches, earlier.voluntary_switches);
    detail::add_up(later.involuntary_switches, earlier.involuntary_switches);
    detail::add_up(later.bytes_read, earlier.bytes_read);
    detail::add_up(later.bytes_written, earlier.bytes_written);
    return later;
}

/// The same of a whole pipeline. Errors: `std::bad_alloc`.
[[nodiscard]] inline pipeline_stats joined(const pipeline_stats& earlier, pipeline_stats later) {
    detail::add_up(later.elapsed, earlier.elapsed);
    for (std::size_t i = 0; i < later.stages.size() && i < earlier.stages.size(); ++i)
        later.stages[i] = weir::joined(earlier.stages[i], std::move(later.stages[i]));
    for (std::size_t i = 0; i < later.channels.size() && i < earlier.channels.size(); ++i)
        later.channels[i] = weir::joined(earlier.channels[i], std::move(later.channels[i]));
    if (later.process && earlier.process) later.process = weir::joined(*earlier.process, *later.process);
    later.num_items += earlier.num_items;
    if (later.first_item && earlier.first_item) detail::add_up(*later.first_item, *earlier.first_item);
    return later;
}

}  // namespace weir

#endif
