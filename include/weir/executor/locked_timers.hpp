// weir executor: timer queues for executors with several threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_LOCKED_TIMERS_HPP
#define WEIR_EXECUTOR_LOCKED_TIMERS_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <limits>     // for std::numeric_limits
#include <memory>     // for std::enable_shared_from_this
#include <mutex>      // for std::lock_guard

namespace weir {

/// A `timer_queue` under a spin lock. The next deadline can be read without the lock. For authors of
/// executors with several threads.
///
/// How a sleeping thread is woken for an earlier timer: before a thread sleeps until `next()`, it publishes
/// its wake-up time with seq_cst and reads `next()` again. A thread whose `add` returned `earliest` reads
/// that wake-up time with seq_cst and wakes the sleeper if the time is too late. One of the two sees the
/// other's store.
///
/// Threads: any thread may call any member.
/// Cost: never allocates; holds the lock for O(log n) amortised.
template <class Platform = detail::standard_platform>
class basic_locked_timers {
  public:
    /// The result of `add`: `refused` (the timer had been cancelled; post its waiter), `queued`, or
    /// `earliest` (queued, and due before all others).
    enum class added { refused, queued, earliest };

    /// `next()` when there is no timer.
    static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

    basic_locked_timers() noexcept = default;
    basic_locked_timers(const basic_locked_timers&) = delete;
    basic_locked_timers& operator=(const basic_locked_timers&) = delete;

    /// The earliest deadline, in nanoseconds of the executor's clock; or `never`. seq_cst.
    [[nodiscard]] std::int64_t next() const noexcept { return next_.load(std::memory_order_seq_cst); }

    /// Whether no timer is queued, not even one with the deadline `never`. Takes the lock.
    [[nodiscard]] bool is_empty() const noexcept {
        const std::lock_guard guard(lock_);
        return timers_.next() == nullptr;
    }

    /// Lifetime: a timer that was not refused may have fired, and be destroyed, when `add` returns.
    [[nodiscard("refused: post the timer's waiter")]] added add(timer& t) noexcept {
        return add(t, [] {});
    }
    /// The same as `add(timer&)`, but if the timer is the earliest, calls `when_earliest()` under the lock,
    /// before the timer can fire. For an executor that may be destroyed as soon as the timer has fired.
    template <class Function>
    [[nodiscard("refused: post the timer's waiter")]] added add(timer& t, Function&& when_earliest) noexcept {
        std::lock_guard guard(lock_);
        if (!timers_.add(t)) return added::refused;
        if (timers_.next() != &t) return added::queued;
        publish();
        when_earliest();
        return added::earliest;
    }

    /// \returns true if the timer was queued: the caller posts its waiter. False if it has fired, or is
    /// cancelled already, or was not added yet: `add` then refuses it.
    [[nodiscard("true: post the timer's waiter")]] bool cancel(timer& t, time_point now) noexcept {
        std::lock_guard guard(lock_);
        if (!timers_.cancel(t, now)) return false;
        publish();
        return true;
    }

    /// Passes the waiter of each timer that is due to `sink(std::coroutine_handle<>)`, in order, outside the
    /// lock, in batches of sixteen.
    /// \returns the number of timers that were due.
    /// Errors: only what the sink throws; the rest of the batch is lost then.
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
    void publish() noexcept {  // the earliest deadline, for `next`
        const timer* const t = timers_.next();
        next_.store(t == nullptr ? never : t->deadline().time_since_epoch().count(),
                    std::memory_order_seq_cst);
    }

    mutable detail::basic_spin_lock<Platform> lock_;
    timer_queue timers_;
    typename Platform::template atomic<std::int64_t> next_{never};
};

WEIR_COMPILED(class basic_locked_timers<detail::standard_platform>);

}  // namespace weir

namespace weir::detail {

// The timers of an executor that another library wakes: a callback of that library calls `fire_due`. The
// callback shares ownership of this object, because the callback may outlive the executor. `Derived` declares
// `static time_point now()`, the clock of the executor, and `set()`. `set()` makes the other library call
// back at `next()`, or withdraws the callback if there is no timer. Several threads may call `set()` at once.
template <class Derived>
class woken_timers : public std::enable_shared_from_this<Derived> {
  public:
    // Implement the executor's functions of the same names.
    void add(timer& t) noexcept {
        using added = basic_locked_timers<>::added;
        const std::coroutine_handle<> waiter = t.waiter();
        const auto me = this->shared_from_this();  // the executor may be destroyed when the timer has fired
        const added result = queue_.add(t);
        if (result == added::refused) executor_->post(waiter);
        if (result == added::earliest) me->set();
    }
    void cancel(timer& t) noexcept {
        const std::coroutine_handle<> waiter = t.waiter();
        if (!queue_.cancel(t, Derived::now())) return;
        // With another timer left, an early wake-up does no harm. With none, the pending callback could keep
        // the other library's loop from ending.
        if (is_empty()) static_cast<Derived*>(this)->set();
        executor_->post(waiter);
    }

  protected:
    explicit woken_timers(executor& ex) noexcept : executor_(&ex) {}
    ~woken_timers() = default;

    bool is_empty() const noexcept { return queue_.is_empty(); }
    // The earliest deadline; only if there is a timer.
    time_point next() const noexcept { return time_point(duration(queue_.next())); }

    // Posts the waiters of all timers that are due. After the executor's end no timer is left, so the
    // executor is not used.
    void fire_due() {
        queue_.fire(Derived::now(), [this](std::coroutine_handle<> h) { executor_->post(h); });
    }

  private:
    executor* executor_;
    basic_locked_timers<> queue_;
};

}  // namespace weir::detail

#endif
