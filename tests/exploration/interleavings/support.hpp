// What the scenarios share.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTERLEAVINGS_SUPPORT_HPP
#define WEIR_TESTS_INTERLEAVINGS_SUPPORT_HPP

#include "scenarios.hpp"

#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_thread.hpp>

#include <cstdint>
#include <type_traits>

namespace interleavings {

using platform = weir::detail::standard_platform;
static_assert(std::is_same_v<platform::atomic<int>, atomic<int>>,
              "compile with interleavings/include before include");

inline constexpr std::int64_t us = 1'000;
inline constexpr std::int64_t ms = 1'000'000;

// Keeps the thread.
inline void block_until(std::int64_t instant) {
    weir::detail::parker nobody_sets_it;
    while (count.now < instant) nobody_sets_it.wait(instant - count.now);
}
inline void block(std::int64_t ns) { block_until(count.now + ns); }

}  // namespace interleavings

#endif
