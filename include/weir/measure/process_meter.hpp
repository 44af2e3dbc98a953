// weir measure, internal: measures the resources that the process uses during a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_PROCESS_METER_HPP
#define WEIR_MEASURE_PROCESS_METER_HPP

#include <weir/measure/process_stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/process_resources.hpp>

#include <cstdint>   // for std::int64_t, std::uint64_t
#include <mutex>     // for std::lock_guard
#include <optional>  // for std::optional

namespace weir::detail {

// `begin` is called before the object is shared; afterwards any thread may call the other members. If `stats`
// is never called, a run costs two system calls of 2 us, at its beginning and its end. Only a snapshot reads
// a file.
template <class Platform>
class basic_process_meter {
    struct instant {
        std::int64_t at;
        process_counts counts;
    };
    static instant read() noexcept { return {Platform::now(), Platform::count_process()}; }

  public:
    void begin() noexcept { begin_ = read(); }

    // Results don't change from now on, except for memory, which the next `stats` reads.
    void end() noexcept {
        const std::lock_guard guard(lock_);
        if (begin_ && !end_) end_ = read();
    }

    // None if `begin` was not called, or if the system reports nothing.
    std::optional<process_stats> stats() noexcept {
        if (!begin_) return std::nullopt;
        const std::lock_guard guard(lock_);
        const instant now = end_ ? *end_ : read();
        if (!end_ || !memory_) memory_ = Platform::measure_memory();
        const process_counts& a = begin_->counts;
        const process_counts& b = now.counts;
        process_stats s;
        s.elapsed = duration(time_between(begin_->at, now.at));
        s.user_time = time(a.user_time, b.user_time);
        s.system_time = time(a.system_time, b.system_time);
        s.minor_faults = count(a.minor_faults, b.minor_faults);
        s.major_faults = count(a.major_faults, b.major_faults);
        s.voluntary_switches = count(a.voluntary_switches, b.voluntary_switches);
        s.involuntary_switches = count(a.involuntary_switches, b.involuntary_switches);
        s.bytes_read = count(a.blocks_read, b.blocks_read, block);
        s.bytes_written = count(a.blocks_written, b.blocks_written, block);
        s.resident = count(0, memory_->resident);
        s.peak_resident = count(0, memory_->peak);
        if (!s.user_time && !s.resident) return std::nullopt;
        if (const unsigned n = Platform::processors(); n != 0) s.processors = n;
        return s;
    }

  private:
    static constexpr std::uint64_t block = 512;  // bytes; independent of the device's block size

    static std::optional<std::uint64_t> count(std::int64_t from, std::int64_t to,
                                              std::uint64_t each = 1) noexcept {
        if (from < 0 || to < 0) return std::nullopt;
        return each * static_cast<std::uint64_t>(time_between(from, to));
    }
    static std::optional<duration> time(std::int64_t from, std::int64_t to) noexcept {
        const std::optional<std::uint64_t> ns = count(from, to);
        return ns ? std::optional(duration(static_cast<std::int64_t>(*ns))) : std::nullopt;
    }

    std::optional<instant> begin_;
    typename Platform::mutex lock_;  // guards the following members
    std::optional<instant> end_;
    std::optional<process_memory> memory_;
};

using process_meter = basic_process_meter<standard_platform>;

WEIR_COMPILED(class basic_process_meter<standard_platform>);

}  // namespace weir::detail

#endif
