// weir report, internal: bodies of the functions of report/run_record.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORD_IPP
#define WEIR_REPORT_RUN_RECORD_IPP

#include <weir/report/run_record.hpp>

#include <weir/platform/config.hpp>

#include <string>   // for std::to_string
#include <utility>  // for std::move

namespace weir {

WEIR_INLINE double stage_on_rank::work() const noexcept {
    const auto calls = static_cast<double>(num_tasks == 0 ? 1 : num_tasks);
    return static_cast<double>(times.busy().count()) / calls;
}

WEIR_INLINE double queue_on_rank::readiness() const noexcept {
    channel_stats c;
    c.elapsed = elapsed;
    c.empty = empty;
    return c.readiness();
}

WEIR_INLINE machine_info this_machine() {
    return {detail::name_of_host(), detail::name_of_system(),
            detail::line_of_system("/proc/cpuinfo", "model name"), detail::available_processors(),
            detail::memory_of_machine()};
}

WEIR_INLINE build_info this_build() {
    return {std::to_string(WEIR_VERSION_MAJOR) + "." + std::to_string(WEIR_VERSION_MINOR) + "." +
                std::to_string(WEIR_VERSION_PATCH),
            detail::name_of_compiler(), detail::name_of_library(), detail::is_optimised,
            detail::has_assertions};
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE run_record new_record(std::string name, pipeline_description made_of,
                                  std::vector<run_setting> settings) {
    run_record run;
    run.name = std::move(name);
    run.machine = weir::this_machine();
    run.build = weir::this_build();
    run.settings = std::move(settings);
    run.description = std::move(made_of);
    return run;
}

WEIR_INLINE void add_up(first_item_stats& sum, const first_item_stats& more) {
    detail::add_up(sum.since, more.since);
    sum.num_items += more.num_items;
}

WEIR_INLINE void join_samples(const std::optional<task_samples>& earlier, std::optional<task_samples>& later,
                              duration elapsed) {
    if (!earlier || !later) return later.reset();
    for (task_sample& each : later->tasks) detail::add_up(each.at, elapsed);
    task_samples all = *earlier;
    add_samples(all, *std::move(later));
    later = std::move(all);
}

WEIR_INLINE bool is_nothing(const pipeline_stats& lap) noexcept {
    bool nothing = lap.elapsed == duration(0);
    for (const stage_stats& s : lap.stages) nothing = nothing && s.num_tasks == 0;
    for (const channel_stats& c : lap.channels)
        nothing = nothing && (c.num_put | c.num_get | c.num_discarded) == 0;
    return nothing;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE channel_stats joined(const channel_stats& earlier, channel_stats later) {
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

WEIR_INLINE stage_stats joined(const stage_stats& earlier, stage_stats later) {
    const std::size_t both = detail::smaller(earlier.per_slot.size(), later.per_slot.size());
    for (std::size_t i = 0; i < both; ++i) later.per_slot[i] += earlier.per_slot[i];
    // A slot that was added in the later lap was off in the earlier lap.
    for (std::size_t i = both; i < later.per_slot.size(); ++i)
        detail::add_up(later.per_slot[i].off, earlier.elapsed);
    detail::join_samples(earlier.samples, later.samples, earlier.elapsed);
    detail::add_up(later.elapsed, earlier.elapsed);
    later.num_tasks += earlier.num_tasks;
    later.num_failures += earlier.num_failures;
    detail::add_up(later.task_time, earlier.task_time);
    detail::add_up(later.failure_time, earlier.failure_time);
    detail::add_up(later.busy, earlier.busy);
    later.task_times += earlier.task_times;
    if (earlier.retries) {
        if (!later.retries) later.retries.emplace();
        later.retries->num_retries += earlier.retries->num_retries;
        detail::add_up(later.retries->time, earlier.retries->time);
    }
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

WEIR_INLINE process_stats joined(const process_stats& earlier, process_stats later) {
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

WEIR_INLINE pipeline_stats joined(const pipeline_stats& earlier, pipeline_stats later) {
    detail::join_samples(earlier.consumer, later.consumer, earlier.elapsed);
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
