// weir task, internal: accounts the time of a stage's slot when its coroutine waits, resumes or wakes others
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_SLOT_ACCOUNTING_HPP
#define WEIR_TASK_SLOT_ACCOUNTING_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::int64_t, std::uint32_t
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::forward

namespace weir::detail {

// A slot is a worker of a stage, with a coroutine of its own. The slot may await the stage's function, whose
// coroutines then have the slot in their `coroutine_env`. The slot adds up the time that it spends in each of
// its states (running, waiting for an item, and so on).

// The current time in nanoseconds, by the clock of a slot.
inline std::int64_t clock_of(const slot& s) noexcept { return s.clock().now().time_since_epoch().count(); }

// Called when the slot's own coroutine resumes after a wait. Records the time; in a run without statistics,
// whose slots have no meter, only records that this thread works for the slot's stage.
template <class Slot>
void slot_resumed(Slot& me) noexcept {
    if constexpr (requires { me.meter; }) {
        me.resumed(detail::clock_of(me));
    } else {
        me.set_work_here();
    }
}

// Called when a coroutine with the environment `env` suspends, not for a put or get of the slot itself. If
// the coroutine is part of a stage's function, the slot enters the state `as`.
WEIR_NOINLINE inline void function_suspended(const coroutine_env& env, slot_state as) noexcept {
    if (env.measured != nullptr) env.measured->enter(as, clock_of(*env.measured));
}
// Called when a coroutine with the environment `env` resumes after `function_suspended`: the slot leaves the
// state of waiting. `ready`: when the awaited operation was complete, by the clock of the thread that
// completed it; ignored if it is later than the slot's own clock, or before the suspension: then it is the
// time of another clock. 0: unknown. Without a slot: from now on the thread works for the stage or run
// `env.ends->work`.
WEIR_NOINLINE inline void function_resumed(const coroutine_env& env, std::int64_t ready = 0) noexcept {
    if (env.measured == nullptr) return trampoline::set_work_here(work_of(env.ends));
    const std::int64_t now = clock_of(*env.measured);
    if (ready != 0 && ready < now) env.measured->enter_if_later(slot_state::runnable, ready);
    env.measured->resumed(now);
}

// Accounts as overhead of the library, not of the stage's function, the time from the slot's last clock
// reading to its next invocation or wait. If invocations have followed that reading, reads the clock first.
template <class Slot>
void begin_overhead(Slot& me) noexcept {
    if constexpr (requires { me.meter; }) {
        if (me.meter.is_behind()) me.catch_up(detail::clock_of(me));
        me.enter_overhead(me.last_reading);
        me.meter.time_next_alone();  // the next invocation is not averaged with earlier ones
    }
}

// Runs `wake`, which posts other coroutines. The time of `wake` is overhead if it woke a thread, by a system
// call, which takes longer than many functions. A post to the thread's own executor takes about as long as a
// clock reading, and is not timed: stages that do nothing, with queues of 2 items, would take 15 % longer. To
// be called in functions that are not inlined: a coroutine would keep the thread-local address of the number
// of wake-ups when it continues on another thread.
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

// Posts a coroutine whose wait is over. The coroutine may be gone afterwards. If the executor doesn't count
// the threads that it wakes, the post counts as one wake-up.
inline void post_woken(executor& ex, std::coroutine_handle<> h) noexcept {
    if (!ex.traits().counts_wakes) ++standard_platform::num_wakes();
    ex.post(h);
}

// An awaitable that updates the slot by itself, or a task, which belongs to the same function as the
// coroutine that awaits it: in both cases the await needs no `observed` (below).
template <class A>
concept updates_slot_itself = is_task<A> || requires { typename A::updates_slot_itself; };

// A reference to an awaiter that can't be moved. `await_transform` returns this object instead of the
// awaiter, which g++ 12 would move.
template <class A>
class awaiter_ref {
    A& inner_;

  public:
    explicit awaiter_ref(A& a) noexcept : inner_(a) {}
    WEIR_ALWAYS_INLINE bool await_ready() const { return inner_.await_ready(); }
    // Resumes where the inner awaiter resumes the coroutine.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) const {
        return inner_.await_suspend(h);
    }
    // Inlined: a std::optional that is returned through memory is written by two stores and read by one load,
    // which waits 5 ns for the stores.
    WEIR_ALWAYS_INLINE decltype(auto) await_resume() const { return inner_.await_resume(); }
};

// The result of `await_transform` for an A that needs no `observed`.
template <class A>
using unobserved = std::conditional_t<std::is_move_constructible_v<std::remove_cvref_t<A>>, A&&,
                                      awaiter_ref<std::remove_reference_t<A>>>;

// Wraps the awaiter of an A, and records in the slot when the coroutine suspends and resumes. In a coroutine
// without a slot or an `end_token` the wrapper costs a few comparisons.
template <class A>
class observed {
    using inner = decltype(detail::get_awaiter(std::declval<A>()));

  public:
    observed(A&& a, coroutine_env& env) : inner_(detail::get_awaiter(std::forward<A>(a))), env_(&env) {}
    observed(const observed&) = delete;
    observed& operator=(const observed&) = delete;

    bool await_ready() { return static_cast<bool>(inner_.await_ready()); }

    // Resumes where the inner awaiter resumes the coroutine.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) {
        // Recorded before the inner call: afterwards the coroutine may be running elsewhere, or be gone.
        suspended_ = env_->measured != nullptr || env_->ends != nullptr;
        constexpr bool ready = requires { std::remove_reference_t<inner>::ready_at_once; };
        if (suspended_) detail::function_suspended(*env_, ready ? slot_state::runnable : slot_state::await);
        using answer = decltype(inner_.await_suspend(h));
        try {
            if constexpr (std::same_as<answer, bool> || std::is_void_v<answer>) {
                return inner_.await_suspend(h);
            } else {
                // The coroutine that runs next may belong to no part of the `when_all` whose parts have ended
                // here. So the trampoline first subtracts the ended parts that it has noted from the counts
                // of their joins (`when_all_join`). An awaiter that resumes its own parts needs no such step.
                if constexpr (!requires { std::remove_reference_t<inner>::resumes_own_parts; }) {
                    trampoline::settle_joins_here();
                }
                return std::coroutine_handle<>(inner_.await_suspend(h));
            }
        } catch (...) {  // the coroutine continues, with this exception, without await_resume()
            if (suspended_) detail::function_resumed(*env_);
            throw;
        }
    }

    WEIR_ALWAYS_INLINE decltype(auto) await_resume() {
        if (suspended_) {
            if constexpr (requires { inner_.ready_at(); }) {
                detail::function_resumed(*env_, inner_.ready_at());
            } else {
                detail::function_resumed(*env_);
            }
        }
        return inner_.await_resume();
    }

  protected:
    inner inner_;

  private:
    coroutine_env* env_;
    bool suspended_ = false;  // await_suspend() was called, and there is a slot or `ends`
};

// A `when_all` or `when_any` that is awaited. If the awaiting coroutine is destroyed meanwhile,
// `task_promise_base::destroy` releases the frames of the parts one by one, and destroys them.
class awaited_join {
  public:
    // Releases the frame of one part: the caller owns the frame then. Null: no frame is left.
    virtual void* release_one() noexcept = 0;

  protected:
    ~awaited_join() = default;
};
template <class A>
concept joins_frames = requires(std::remove_cvref_t<A>& a) { a.release_one(); };

}  // namespace weir::detail

#endif
