// weir measure: instants and durations in integer nanoseconds of an executor's clock
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_CLOCK_HPP
#define WEIR_MEASURE_CLOCK_HPP

#include <weir/platform/config.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <mutex>    // for std::chrono::nanoseconds, std::chrono::time_point; compiles faster than <chrono>
#include <ratio>    // for std::nano

namespace weir {

/// The clock type of all instants and durations of the library. The type has no `now()`: each executor has
/// its own time (`executor::now`), so that statistics, timers and deadlines of a program on virtual time are
/// virtual, too.
///
/// Units: nanoseconds in 64 bits, up to 292 years. Instants of different executors must not be compared.
struct clock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;
};

using duration = clock::duration;      ///< in integer nanoseconds
using time_point = clock::time_point;  ///< of one executor's clock

/// \returns `t + d`, or the nearest representable instant if that would overflow.
[[nodiscard]] constexpr time_point saturating_add(time_point t, duration d) noexcept {
    const std::int64_t a = t.time_since_epoch().count();
    const std::int64_t b = d.count();
    if (b > 0 && a > INT64_MAX - b) return (time_point::max)();
    if (b < 0 && a < INT64_MIN - b) return (time_point::min)();
    return t + d;
}

}  // namespace weir

namespace weir::detail {

// The growth of a value between two snapshots; 0 if the later value is less than the earlier value.
template <class T>
[[nodiscard]] constexpr T since(const T& earlier, const T& later) noexcept {
    return later < earlier ? T{} : static_cast<T>(later - earlier);
}

// Replaces each of these members of a later snapshot by its growth since an earlier snapshot.
template <class Snapshot, class... Members>
constexpr void subtract(Snapshot& later, const Snapshot& earlier, Members Snapshot::*... members) noexcept {
    ((later.*members = detail::since(earlier.*members, later.*members)), ...);
}

// The sum of two non-negative durations, at most `duration::max()`.
[[nodiscard]] constexpr duration sum(duration a, duration b) noexcept {
    return a > (duration::max)() - b ? (duration::max)() : a + b;
}

[[nodiscard]] constexpr duration average(duration sum, std::uint64_t count) noexcept {
    if (count == 0 || count > INT64_MAX) return duration(0);
    return sum / static_cast<std::int64_t>(count);
}

[[nodiscard]] constexpr double per_second(std::uint64_t count, duration elapsed) noexcept {
    if (elapsed <= duration(0)) return 0;
    return static_cast<double>(count) * 1e9 / static_cast<double>(elapsed.count());
}

}  // namespace weir::detail

#endif
