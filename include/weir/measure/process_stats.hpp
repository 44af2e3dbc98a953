// weir measure: processor time, memory and I/O of the process while a pipeline ran, and their measurement
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_PROCESS_STATS_HPP
#define WEIR_MEASURE_PROCESS_STATS_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/system_info.hpp>

#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional

namespace weir {

/// The resources that the whole process used during a run of a pipeline: for its stages, for its consumer
/// (which takes the results), and for the rest of the program. The values show why a stage is slow: it
/// computes, or it waits for a processor, for memory or for a disk. Values that the system doesn't report are
/// empty: on macOS those of storage, memory and processors, on Windows those of faults, switches and storage.
/// After the end of the run, the values of memory are those of the end; if no snapshot was taken before,
/// those of the first snapshot after the end.
struct process_stats {
    duration elapsed{};                                 ///< from the start of the run to the snapshot
    std::optional<unsigned> processors;                 ///< that the thread that takes the snapshot may use
    std::optional<duration> user_time;                  ///< of all threads, in user mode
    std::optional<duration> system_time;                ///< of all threads, in the kernel
    std::optional<std::uint64_t> minor_faults;          ///< page faults that needed no storage
    std::optional<std::uint64_t> major_faults;          ///< page faults that read from storage
    std::optional<std::uint64_t> voluntary_switches;    ///< times that a thread gave its processor up to wait
    std::optional<std::uint64_t> involuntary_switches;  ///< times that a thread was preempted
    std::optional<std::uint64_t> bytes_read;     ///< from storage; reads from the page cache don't count
    std::optional<std::uint64_t> bytes_written;  ///< to storage, or to the page cache and later to storage
    std::optional<std::uint64_t> resident;       ///< resident memory at the snapshot, in bytes
    std::optional<std::uint64_t> peak_resident;  ///< the maximum since the process began, in bytes

    /// \returns the average number of busy processors, in user mode and in the kernel; 0 if no time has
    ///          passed. If `user_time` or `system_time` is unknown, that time counts as 0.
    [[nodiscard]] double busy() const noexcept { return share(user_time) + busy_in_system(); }
    /// \returns the part of `busy` in the kernel; 0 if unknown.
    [[nodiscard]] double busy_in_system() const noexcept { return share(system_time); }
    [[nodiscard]] friend bool operator==(const process_stats&, const process_stats&) = default;

  private:
    double share(const std::optional<duration>& part) const noexcept {
        if (!part || elapsed <= duration(0)) return 0;
        return static_cast<double>(part->count()) / static_cast<double>(elapsed.count());
    }
};

/// A lap (a part of a run): the resources used from `earlier` to `later`; nothing becomes negative.
/// Memory and processors are those of `later`. Any other value that one of the two snapshots lacks is
/// empty.
[[nodiscard]] process_stats operator-(process_stats later, const process_stats& earlier);

namespace detail {

// Measures the `process_stats` of a run.
//
// `begin` is called before the object is shared; afterwards any thread may call the other members. If `stats`
// is never called, a run costs two system calls of 2 us, at its beginning and its end. The memory is read,
// from a file on Linux, only by `stats`, and by `end` if `stats` was called before.
template <class Platform>
class basic_process_meter {
    struct instant {
        std::int64_t at;
        process_counts counts;
    };
    static instant read() noexcept { return {Platform::now(), Platform::count_process()}; }

  public:
    void begin() noexcept { begin_.emplace(read()); }

    // Ends the measurement: later calls of `stats` return the values of this instant, except in two cases. If
    // `stats` was not called before `end`, the first call of `stats` after `end` reads the memory. Each call
    // of `stats` reads the number of processors anew.
    void end() noexcept;

    // None if `begin` was not called, or if the system reports neither times nor memory.
    std::optional<process_stats> stats() noexcept;

  private:
    static constexpr std::uint64_t block = 512;  // bytes; the system's unit of storage, on every device

    static std::optional<std::uint64_t> count(std::int64_t from, std::int64_t to,
                                              std::uint64_t each = 1) noexcept;
    static std::optional<duration> time(std::int64_t from, std::int64_t to) noexcept;

    later<instant> begin_;
    typename Platform::mutex lock_;  // guards the following members
    later<instant> end_;
    later<process_memory> memory_;
};

using process_meter = basic_process_meter<standard_platform>;

WEIR_COMPILED(class basic_process_meter<standard_platform>);

}  // namespace detail

}  // namespace weir

#include <weir/measure/process_stats.ipp>

#endif
