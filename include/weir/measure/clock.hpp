// weir measure: the type of every instant and duration: integer nanoseconds of an executor's clock
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_CLOCK_HPP
#define WEIR_MEASURE_CLOCK_HPP

#include <weir/platform/requirements.hpp>

#include <cstdint>  // for std::int64_t
#include <mutex>    // for std::chrono::nanoseconds, std::chrono::time_point: <chrono> has all calendars, too
#include <ratio>    // for std::nano

namespace weir {

/// The scale on which all of the library measures. It has no `now()`: an executor has one
/// (`executor::now`), so that statistics, timers and deadlines of a program on virtual time are
/// virtual too.
///
/// Units: nanoseconds in 64 bits, 292 years. Instants of different executors don't compare.
struct clock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;
};

using duration = clock::duration;      ///< in integer nanoseconds
using time_point = clock::time_point;  ///< of one executor's clock

/// \returns `t + d`, or the last representable instant where that would overflow.
[[nodiscard]] constexpr time_point saturating_add(time_point t, duration d) noexcept {
    const std::int64_t a = t.time_since_epoch().count();
    const std::int64_t b = d.count();
    if (b > 0 && a > INT64_MAX - b) return (time_point::max)();
    if (b < 0 && a < INT64_MIN - b) return (time_point::min)();
    return t + d;
}

}  // namespace weir

#endif
