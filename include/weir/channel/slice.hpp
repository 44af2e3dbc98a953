// weir channel, internal: how long a coroutine that always finds its channels ready keeps its worker
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SLICE_HPP
#define WEIR_CHANNEL_SLICE_HPP

#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

// It would keep it from all others: so once in so many operations at an end, and for a slot after so long
// since it last got its thread, it goes to the end of its executor's queue, though it needn't wait.

// How many operations can follow the first `count` at an end before the one with which a slice ends. The ends
// take turns.
constexpr std::uint64_t left_of_slice(bool puts, std::uint64_t count) noexcept {
    constexpr std::uint64_t most_without_waiting = 128;
    return (most_without_waiting / (puts ? 2 : 1) - 1 - count) % most_without_waiting;
}

// Whether the operation after the first `count` at its end ends a slice.
template <class Policy>
WEIR_ALWAYS_INLINE bool uses_up_slice(bool puts, std::uint64_t count, const slot* measured) noexcept {
    if (ends_every_turn<Policy> || left_of_slice(puts, count) == 0) return true;
    return Policy::statistics && measured != nullptr && measured->has_used_time_slice();
}
// The same, or that it puts an item that is followed: anything for which it doesn't move at once.
template <class Policy>
WEIR_ALWAYS_INLINE bool is_special(bool puts, std::uint64_t count, const slot* measured) noexcept {
    if (ends_every_turn<Policy> || left_of_slice(puts, count) == 0) return true;
    return Policy::statistics && measured != nullptr && measured->needs_slow_path();
}

}  // namespace weir::detail

#endif
