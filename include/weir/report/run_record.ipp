// weir report, internal: bodies of the functions of report/run_record.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORD_IPP
#define WEIR_REPORT_RUN_RECORD_IPP

#include <weir/report/run_record.hpp>

#include <weir/platform/config.hpp>
#include <weir/run/failure.hpp>

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

WEIR_INLINE std::string outcome_text(run_outcome how, const std::string& stage) {
    if (how == run_outcome::stopped) return "stopped";
    if (how == run_outcome::stopped_by_token) return "stopped by a token";
    if (how != run_outcome::failed) return "finished";
    return stage.empty() ? "failed" : "failed in '" + stage + "'";
}

WEIR_INLINE void join_samples(const std::optional<task_samples>& earlier, std::optional<task_samples>& later,
                              duration elapsed) {
    if (!earlier || !later) return later.reset();
    for (task_sample& each : later->tasks) detail::add_up(each.at, elapsed);
    task_samples all = *earlier;
    add_samples(all, *std::move(later));
    later = std::move(all);
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE channel_stats joined(const channel_stats& earlier, channel_stats later) {
    detail::add_members(later, earlier, &channel_stats::elapsed, &channel_stats::num_put,
                        &channel_stats::num_get, &channel_stats::num_discarded, &channel_stats::put_wait,
                        &channel_stats::get_wait, &channel_stats::put_blocked, &channel_stats::get_blocked,
                        &channel_stats::empty, &channel_stats::put_waits, &channel_stats::get_waits);
    return later;
}

WEIR_INLINE stage_stats joined(const stage_stats& earlier, stage_stats later) {
    const std::size_t both = detail::smaller(earlier.per_slot.size(), later.per_slot.size());
    for (std::size_t i = 0; i < both; ++i) later.per_slot[i] += earlier.per_slot[i];
    // A slot (a worker of the stage) that was added in the later lap (part of the run) was off in the earlier
    // lap.
    for (std::size_t i = both; i < later.per_slot.size(); ++i)
        detail::add_up(later.per_slot[i].off, earlier.elapsed);
    detail::join_samples(earlier.samples, later.samples, earlier.elapsed);
    detail::add_members(later, earlier, &stage_stats::elapsed, &stage_stats::num_tasks,
                        &stage_stats::num_failures, &stage_stats::task_time, &stage_stats::failure_time,
                        &stage_stats::busy, &stage_stats::task_times);
    if (earlier.retries) {
        if (!later.retries) later.retries.emplace();
        detail::add_members(*later.retries, *earlier.retries, &retry_stats::num_retries, &retry_stats::time);
    }
    if (later.transfers && earlier.transfers) {
        detail::add_members(*later.transfers, *earlier.transfers, &transfer_stats::num_copies,
                            &transfer_stats::bytes, &transfer_stats::copying,
                            &transfer_stats::num_handed_over, &transfer_stats::handed_over,
                            &transfer_stats::exposed, &transfer_stats::num_block_waits,
                            &transfer_stats::block_wait, &transfer_stats::num_memory_waits,
                            &transfer_stats::memory_wait);
    }
    if (later.added && earlier.added)
        detail::add_members(*later.added, *earlier.added, &added_stats::num_added,
                            &added_stats::num_discarded);
    return later;
}

WEIR_INLINE process_stats joined(const process_stats& earlier, process_stats later) {
    detail::add_members(later, earlier, &process_stats::elapsed, &process_stats::user_time,
                        &process_stats::system_time, &process_stats::minor_faults,
                        &process_stats::major_faults, &process_stats::voluntary_switches,
                        &process_stats::involuntary_switches, &process_stats::bytes_read,
                        &process_stats::bytes_written);
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
    if (later.first_item && earlier.first_item)  // `after` remains that of `later`
        detail::add_members(*later.first_item, *earlier.first_item, &first_item_stats::since,
                            &first_item_stats::num_items);
    return later;
}

}  // namespace weir

#endif
