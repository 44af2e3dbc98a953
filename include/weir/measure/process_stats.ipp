// weir measure, internal: bodies of the functions of measure/process_stats.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_PROCESS_STATS_IPP
#define WEIR_MEASURE_PROCESS_STATS_IPP

#include <weir/measure/process_stats.hpp>

#include <weir/platform/config.hpp>

#include <mutex>  // for std::lock_guard

namespace weir {

inline process_stats operator-(process_stats later, const process_stats& earlier) {
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

namespace detail {

template <class Platform>
WEIR_INLINE void basic_process_meter<Platform>::end() noexcept {
    const std::lock_guard guard(lock_);
    if (!begin_ || end_) return;
    end_.emplace(read());
    if (memory_) memory_.emplace(Platform::measure_memory());
}

template <class Platform>
WEIR_INLINE auto basic_process_meter<Platform>::stats() noexcept -> std::optional<process_stats> {
    if (!begin_) return std::nullopt;
    const std::lock_guard guard(lock_);
    const instant now = end_ ? *end_ : read();
    if (!end_ || !memory_) memory_.emplace(Platform::measure_memory());
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

template <class Platform>
WEIR_INLINE auto basic_process_meter<Platform>::count(std::int64_t from, std::int64_t to,
                                                      std::uint64_t each) noexcept
    -> std::optional<std::uint64_t> {
    if (from < 0 || to < 0) return std::nullopt;
    return each * static_cast<std::uint64_t>(time_between(from, to));
}

template <class Platform>
WEIR_INLINE auto basic_process_meter<Platform>::time(std::int64_t from, std::int64_t to) noexcept
    -> std::optional<duration> {
    const std::optional<std::uint64_t> ns = count(from, to);
    return ns ? std::optional(duration(static_cast<std::int64_t>(*ns))) : std::nullopt;
}

}  // namespace detail

}  // namespace weir

#endif
