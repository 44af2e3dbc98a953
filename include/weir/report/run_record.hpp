// weir report: a run as a value: pipeline, machine, build, failures, statistics; and how laps are joined
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORD_HPP
#define WEIR_REPORT_RUN_RECORD_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/process_resources.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/structure.hpp>
#include <weir/version.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string, std::to_string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir {

/// The machine on which a run took place. A value that the system does not tell is empty, or 0.
struct machine_info {
    std::string host;          ///< its name
    std::string system;        ///< `Linux 6.1.0 x86_64`
    std::string processor;     ///< its model
    unsigned processors = 0;   ///< number of processors that the process may use
    std::uint64_t memory = 0;  ///< bytes

    [[nodiscard]] friend bool operator==(const machine_info&, const machine_info&) = default;
};

/// How the program was compiled: the source file that calls `this_build`.
struct build_info {
    std::string weir;         ///< the version of this library
    std::string compiler;     ///< the compiler and its version
    std::string library;      ///< the standard library and its version
    bool optimised = false;   ///< compiled with optimisation
    bool assertions = false;  ///< compiled without NDEBUG

    [[nodiscard]] friend bool operator==(const build_info&, const build_info&) = default;
};

/// A setting of a run, given by the program: a number of threads, the name of a dataset.
struct run_setting {
    std::string name;   ///< what is set
    std::string value;  ///< its value, as text

    [[nodiscard]] friend bool operator==(const run_setting&, const run_setting&) = default;
};

/// An item that failed.
struct recorded_failure {
    std::string stage;       ///< the name of the stage
    std::uint64_t item = 0;  ///< the item's number in that stage, from 0
    std::string message;     ///< `failure::message()`
    std::string where;       ///< where the stage was composed: `loader.cpp:42`; empty: not known
    std::size_t lap = 0;     ///< the number of the lap, from 0

    [[nodiscard]] friend bool operator==(const recorded_failure&, const recorded_failure&) = default;
};

/// Everything known of a run: the input of `html_text` and `json_text`, and the output of `run_recorder`.
struct run_record {
    std::string name;                        ///< given by the program
    std::string started;                     ///< UTC, `2026-11-25T02:54:16Z`; also on virtual time
    bool ended = false;                      ///< false: the run still went on, or the process was killed
    machine_info machine;                    ///< where it ran
    build_info build;                        ///< how the program was compiled
    std::vector<run_setting> settings;       ///< given by the program
    pipeline_description description;        ///< without stages if the program gave none
    pipeline_stats total;                    ///< of the whole run, or of the laps that are known
    std::uint64_t num_failures = 0;          ///< of all failures
    std::vector<recorded_failure> failures;  ///< the first failures
    std::vector<pipeline_stats> laps;        ///< in order; the last lap may be shorter

    [[nodiscard]] friend bool operator==(const run_record&, const run_record&) = default;
};

/// \returns what the system tells about this machine.
/// Errors: `std::bad_alloc`. Cost: reads two files of the system.
[[nodiscard]] inline machine_info this_machine() {
    return {detail::name_of_host(), detail::name_of_system(),
            detail::line_of_system("/proc/cpuinfo", "model name"), detail::available_processors(),
            detail::memory_of_machine()};
}

/// \returns how the caller's source file was compiled. Errors: `std::bad_alloc`.
[[nodiscard]] inline build_info this_build() {
    return {std::to_string(WEIR_VERSION_MAJOR) + "." + std::to_string(WEIR_VERSION_MINOR) + "." +
                std::to_string(WEIR_VERSION_PATCH),
            detail::name_of_compiler(), detail::name_of_library(), detail::is_optimised,
            detail::has_assertions};
}

namespace detail {

// \returns the record of a run that has not begun.
[[nodiscard]] inline run_record new_record(std::string name, pipeline_description made_of,
                                           std::vector<run_setting> settings) {
    run_record run;
    run.name = std::move(name);
    run.machine = weir::this_machine();
    run.build = weir::this_build();
    run.settings = std::move(settings);
    run.description = std::move(made_of);
    return run;
}

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

// Whether no time passed and nothing was done.
inline bool is_nothing(const pipeline_stats& lap) noexcept {
    bool nothing = lap.elapsed == duration(0);
    for (const stage_stats& s : lap.stages) nothing = nothing && s.num_tasks == 0;
    for (const channel_stats& c : lap.channels)
        nothing = nothing && (c.num_put | c.num_get | c.num_discarded) == 0;
    return nothing;
}

}  // namespace detail

/// \returns two laps of one run as one; the second begins where the first ends. `joined(b - a, c - b)` is
/// `c - a`, except that the longest durations are the longer ones of the two laps. Names, sizes and other
/// values of an instant are taken from the later lap. Stages and channels are matched by position.
/// Errors: `std::bad_alloc`.
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

/// \returns two laps of a stage as one. Errors: `std::bad_alloc`.
[[nodiscard]] inline stage_stats joined(const stage_stats& earlier, stage_stats later) {
    const std::size_t both = detail::smaller(earlier.per_slot.size(), later.per_slot.size());
    for (std::size_t i = 0; i < both; ++i) later.per_slot[i] += earlier.per_slot[i];
    // A slot that was added later was off before.
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

/// \returns two laps of the process as one. Errors: `std::bad_alloc`.
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

/// \returns two laps of a pipeline as one. Errors: `std::bad_alloc`.
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
