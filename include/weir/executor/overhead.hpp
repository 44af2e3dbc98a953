// weir executor, internal: what the library does for an item beside the stage's function: it wakes threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_OVERHEAD_HPP
#define WEIR_EXECUTOR_OVERHEAD_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint32_t

namespace weir::detail {

// From the slot's last reading of the clock on its time is no part of the stage's function, until the slot's
// next invocation or wait. If invocations wait to be timed, the clock is read, and it begins now.
template <class Slot>
void begins_overhead(Slot& me) noexcept {
    if constexpr (requires { me.meter; }) {
        if (me.meter.is_behind()) me.catch_up(detail::clock_of(me));
        me.enter_overhead(me.last_reading);
        me.meter.stands_apart();
    }
}

// The chain of a slot wakes others: an overhead where that woke a thread, which takes longer than many
// functions. To post a coroutine to the thread's own executor takes about as long as a reading of the clock,
// and is not timed: no-op stages at capacity 2 took 15 % longer with it. For functions that are not inlined:
// see WEIR_NOINLINE.
template <class Slot, class Wake>
WEIR_ALWAYS_INLINE void wake_others(Slot& me, Wake wake) noexcept {
    if constexpr (requires { me.meter; }) {
        if (me.meter.is_behind()) me.catch_up(detail::clock_of(me));
        const std::uint32_t before = standard_platform::num_wakes();
        wake();
        if (standard_platform::num_wakes() != before) detail::begins_overhead(me);
    } else {
        wake();
    }
}

// The last thing done to a coroutine that waited.
inline void post_woken(executor& ex, std::coroutine_handle<> h) noexcept {
    if (!ex.traits().counts_wakes) ++standard_platform::num_wakes();
    ex.post(h);
}

}  // namespace weir::detail

#endif
