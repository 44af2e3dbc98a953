// weir executor, internal: a clock that stands still until it is moved to the next timer
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_VIRTUAL_CLOCK_HPP
#define WEIR_EXECUTOR_VIRTUAL_CLOCK_HPP

#include <weir/executor/deadlock.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/wait_text.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/registry.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <string>   // for std::string

namespace weir::detail {

// The timers of an executor on virtual time, and its clock. Where several threads use it, under a
// lock; but any thread may read the clock.
class virtual_clock {
  public:
    time_point now() const noexcept { return time_point(duration(now_.load(std::memory_order_relaxed))); }
    void set(time_point t) noexcept { now_.store(t.time_since_epoch().count(), std::memory_order_relaxed); }

    // False: the timer's waiter is ready at once.
    [[nodiscard]] bool add(timer& t) noexcept {
        const bool queued = timers_.add(t);
        if (queued && works(t)) ++working_;
        return queued;
    }
    // True: the timer's waiter is ready now.
    [[nodiscard]] bool cancel(timer& t) noexcept {
        const bool was_queued = timers_.cancel(t, now());
        if (was_queued && works(t)) --working_;
        return was_queued;
    }

    // Moves to the earliest instant before `limit` at which something is due, and gives whose turn it is
    // to `ready`, one timer_order at a time: `before_all` runs to quiescence before the rest of the instant
    // is ready. False if nothing is due before `limit`.
    template <class Ready>
    bool advance(time_point limit, Ready ready) noexcept {
        const timer* const first = timers_.next();
        if (first == nullptr || first->deadline() == (time_point::max)()) return false;
        if (working_ == 0 && limit == (time_point::max)()) return false;
        const time_point at = first->deadline() < now() ? now() : first->deadline();
        if (at >= limit) return false;
        set(at);
        const timer_order order = first->order();
        while (!timers_.empty() && timers_.next()->deadline() <= at && timers_.next()->order() == order) {
            timer* const due = timers_.pop_due(at);
            if (works(*due)) --working_;
            ready(due->waiter());
        }
        return true;
    }

  private:
    // A mere watcher, or one that never fires, keeps no time going.
    static bool works(const timer& t) noexcept {
        return t.order() == timer_order::normal && t.deadline() != (time_point::max)();
    }

    timer_queue timers_;
    std::size_t working_ = 0;  // of those, the ones that keep time going
    standard_platform::atomic<std::int64_t> now_{0};
};

// What executors on virtual time have in common: the clock, and who waits there on a channel.
class virtual_executor : public executor {
  public:
    [[nodiscard]] time_point now() const noexcept final { return clock_.now(); }

  protected:
    virtual_executor() : executor({.exclusive = true, .waiters = &places_, .counts_wakes = true}) {}
    ~virtual_executor() override = default;

    std::string waiters() { return detail::waiters_at(places_); }
    // Those who wait are left where they are.
    [[noreturn]] void throw_deadlock(const std::string& waiters) {
        users().excuse();
        throw deadlock_error(
            "weir: deadlock: nothing can run, no timer is left, and somebody waits:" +
            (waiters.empty() ? std::string("\n  for something other than a channel") : waiters));
    }

    virtual_clock clock_;
    registry places_;
};

}  // namespace weir::detail

#endif
