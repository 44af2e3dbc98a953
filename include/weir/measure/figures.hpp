// weir measure, internal: the differences, sums, averages and rates that statistics are made of
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_FIGURES_HPP
#define WEIR_MEASURE_FIGURES_HPP

#include <weir/measure/clock.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// A lap's share of a value that only grows. 0 where the snapshots are not in order.
template <class T>
[[nodiscard]] constexpr T since(const T& earlier, const T& later) noexcept {
    return later < earlier ? T{} : static_cast<T>(later - earlier);
}

// Of two that are not negative; stops at the longest one there is.
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
