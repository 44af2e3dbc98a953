// weir executor, internal: accounts the time of a slot when its coroutine waits, resumes or wakes others
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_SLOT_ACCOUNTING_HPP
#define WEIR_EXECUTOR_SLOT_ACCOUNTING_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint32_t

namespace weir::detail {

// The time by the clock of a slot, in nanoseconds.
inline std::int64_t clock_of(const slot& s) noexcept { return s.clock().now().time_since_epoch().count(); }

// The worker of a slot resumes after a wait. `Slot`: of any policy; unmeasured ones have no meter.
template <class Slot>
void slot_resumed(Slot& me) noexcept {
    if constexpr (requires { me.meter; }) {
        me.resumed(detail::clock_of(me));
    } else {
        me.resumed();
    }
}

// A coroutine that may be part of a stage's function suspends on something other than the stage's queues; if
// it is part of one, its slot enters the state `as`.
WEIR_NOINLINE inline void function_suspended(const coroutine_env& env, slot_state as) noexcept {
    if (env.measured != nullptr) env.measured->enter(as, clock_of(*env.measured));
}
// The same coroutine resumes. `ready`: when the awaited operation was complete, by the clock of the thread
// that completed it; ignored if it is later than the slot's own clock. 0: unknown.
WEIR_NOINLINE inline void function_resumed(const coroutine_env& env, std::int64_t ready = 0) noexcept {
    if (env.measured == nullptr) return trampoline::is_work_of(whose_work(env.ends));
    const std::int64_t now = clock_of(*env.measured);
    if (ready != 0 && ready < now) env.measured->enter(slot_state::runnable, ready);
    env.measured->resumed(now);
}

// From the slot's last clock reading to its next invocation or wait, time is overhead of the library and not
// part of the stage's function. If invocations have not been timed yet, reads the clock and begins now.
template <class Slot>
void begin_overhead(Slot& me) noexcept {
    if constexpr (requires { me.meter; }) {
        if (me.meter.is_behind()) me.catch_up(detail::clock_of(me));
        me.enter_overhead(me.last_reading);
        me.meter.time_next_alone();
    }
}

// Runs `wake`, which posts other coroutines. Its time counts as overhead if it woke a thread: a system call,
// which takes longer than many functions. A post to the thread's own executor takes about as long as a clock
// reading and is not timed: no-op stages at capacity 2 took 15 % longer with it. Call it in functions that
// are not inlined: see WEIR_NOINLINE.
template <class Slot, class Wake>
WEIR_ALWAYS_INLINE void wake_others(Slot& me, Wake wake) noexcept {
    if constexpr (requires { me.meter; }) {
        if (me.meter.is_behind()) me.catch_up(detail::clock_of(me));
        const std::uint32_t before = standard_platform::num_wakes();
        wake();
        if (standard_platform::num_wakes() != before) detail::begin_overhead(me);
    } else {
        wake();
    }
}

// Posts a coroutine whose wait is over. The coroutine may be gone afterwards.
inline void post_woken(executor& ex, std::coroutine_handle<> h) noexcept {
    if (!ex.traits().counts_wakes) ++standard_platform::num_wakes();
    ex.post(h);
}

}  // namespace weir::detail

#endif
