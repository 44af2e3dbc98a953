// weir measure: what the process used while a pipeline ran, as the system counted it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_PROCESS_STATS_HPP
#define WEIR_MEASURE_PROCESS_STATS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/figures.hpp>

#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional

namespace weir {

/// What the whole process used while a run went on: its stages, its consumer, and whatever else the program
/// does. Of a stage that is slow it tells whether that is so because it works, or because it waits for a
/// processor, for memory or for a disk. Absent is what the system doesn't say: on macOS all of
/// storage, memory and processors, on Windows faults, switches and storage.
struct process_stats {
    duration elapsed{};                                 ///< from the start of the run to the snapshot
    std::optional<unsigned> processors;                 ///< that the process may use
    std::optional<duration> user_time;                  ///< of all its threads, in the program's code
    std::optional<duration> system_time;                ///< of all its threads, in the system's
    std::optional<std::uint64_t> minor_faults;          ///< pages that the system had at hand, or made
    std::optional<std::uint64_t> major_faults;          ///< pages that had to be read from storage
    std::optional<std::uint64_t> voluntary_switches;    ///< how often a thread gave its processor up, to wait
    std::optional<std::uint64_t> involuntary_switches;  ///< how often one was taken off its processor
    std::optional<std::uint64_t> bytes_read;  ///< from storage; what the system had in memory isn't among it
    std::optional<std::uint64_t> bytes_written;  ///< that storage has, or is going to have, to take
    std::optional<std::uint64_t> resident;       ///< bytes of memory that it has at the snapshot
    std::optional<std::uint64_t> peak_resident;  ///< the most that it had since it began, in bytes

    /// \returns how many processors it kept busy on average, `system_time` included; 0 before any time has
    ///          passed, or where that is unknown.
    [[nodiscard]] double busy() const noexcept { return share(user_time) + busy_in_system(); }
    /// \returns the part of that in the system's code.
    [[nodiscard]] double busy_in_system() const noexcept { return share(system_time); }

    /// A lap; nothing becomes negative. Memory and processors are the later ones; what one of the two lacks
    /// is absent.
    [[nodiscard]] friend process_stats operator-(process_stats later, const process_stats& earlier) {
        const auto since = [](auto& a, const auto& b) {
            if (a && b) {
                a = detail::since(*b, *a);
            } else {
                a.reset();
            }
        };
        later.elapsed = detail::since(earlier.elapsed, later.elapsed);
        since(later.user_time, earlier.user_time);
        since(later.system_time, earlier.system_time);
        since(later.minor_faults, earlier.minor_faults);
        since(later.major_faults, earlier.major_faults);
        since(later.voluntary_switches, earlier.voluntary_switches);
        since(later.involuntary_switches, earlier.involuntary_switches);
        since(later.bytes_read, earlier.bytes_read);
        since(later.bytes_written, earlier.bytes_written);
        return later;
    }
    [[nodiscard]] friend bool operator==(const process_stats&, const process_stats&) = default;

  private:
    double share(const std::optional<duration>& part) const noexcept {
        if (!part || elapsed <= duration(0)) return 0;
        return static_cast<double>(part->count()) / static_cast<double>(elapsed.count());
    }
};

}  // namespace weir

#endif
