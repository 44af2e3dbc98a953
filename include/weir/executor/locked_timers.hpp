// weir executor: a timer queue for executors with several threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_LOCKED_TIMERS_HPP
#define WEIR_EXECUTOR_LOCKED_TIMERS_HPP

#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <limits>     // for std::numeric_limits
#include <mutex>      // for std::lock_guard

namespace weir {

/// A `timer_queue` under a spin lock, with the next deadline to be read without it.
///
/// For whoever writes an executor with threads: a thread that sleeps until `next()` announces until
/// when, then reads `next()` again; a thread that was told `earliest` reads the announcement and
/// wakes the sleeper if it is too late. Both sides are seq_cst, so one sees the other.
///
/// Threads: any, all of it.
/// Cost: nothing allocates; the lock is held for O(log n) amortised.
template <class Platform = detail::standard_platform>
class basic_locked_timers {
  public:
    /// What became of a timer that was added: `refused` (it had been cancelled; post its waiter),
    /// `queued`, or `earliest` (queued before all others).
    enum class added { refused, queued, earliest };

    /// `next()` when there is no timer.
    static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

    basic_locked_timers() noexcept = default;
    basic_locked_timers(const basic_locked_timers&) = delete;
    basic_locked_timers& operator=(const basic_locked_timers&) = delete;

    /// The earliest deadline in nanoseconds of the clock. seq_cst.
    [[nodiscard]] std::int64_t next() const noexcept { return next_.load(std::memory_order_seq_cst); }

    /// Lifetime: unless it was refused, the timer may have fired and be gone when this returns.
    [[nodiscard("refused: post the timer's waiter")]] added add(timer& t) noexcept {
        return add(t, [] {});
    }
    /// The same; calls `when_earliest()` if it is that, before it can fire: under the lock. For an executor
    /// that may be gone as soon as the timer has fired.
    template <class Function>
    [[nodiscard("refused: post the timer's waiter")]] added add(timer& t, Function&& when_earliest) noexcept {
        std::lock_guard guard(lock_);
        if (!timers_.add(t)) return added::refused;
        if (timers_.next() != &t) return added::queued;
        publish();
        when_earliest();
        return added::earliest;
    }

    /// \returns true if it was queued: its waiter is to be posted.
    [[nodiscard("true: post the timer's waiter")]] bool cancel(timer& t, time_point now) noexcept {
        std::lock_guard guard(lock_);
        if (!timers_.cancel(t, now)) return false;
        publish();
        return true;
    }

    /// Hands the waiters of all timers that are due to `sink(std::coroutine_handle<>)`, in order,
    /// outside the lock: sixteen at a time.
    /// \returns how many.
    /// Errors: none unless the sink throws; what it was not given of sixteen is lost then.
    template <class Sink>
    std::size_t fire(time_point now, Sink&& sink) {
        std::size_t total = 0;
        for (;;) {
            std::coroutine_handle<> due[16];
            std::size_t n = 0;
            {
                std::lock_guard guard(lock_);
                while (n < 16) {
                    timer* const t = timers_.pop_due(now);
                    if (t == nullptr) break;
                    due[n++] = t->waiter();
                }
                if (n != 0) publish();
            }
            for (std::size_t i = 0; i < n; ++i) sink(due[i]);
            total += n;
            if (n < 16) return total;
        }
    }

  private:
    void publish() noexcept {
        const timer* const t = timers_.next();
        next_.store(t == nullptr ? never : t->deadline().time_since_epoch().count(),
                    std::memory_order_seq_cst);
    }

    detail::basic_spin_lock<Platform> lock_;
    timer_queue timers_;
    typename Platform::template atomic<std::int64_t> next_{never};
};

WEIR_COMPILED(class basic_locked_timers<detail::standard_platform>);

}  // namespace weir

#endif
