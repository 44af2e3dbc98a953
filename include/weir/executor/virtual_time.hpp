// weir executor: an executor whose clock moves only when nothing can run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_VIRTUAL_TIME_HPP
#define WEIR_EXECUTOR_VIRTUAL_TIME_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::ptrdiff_t, std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <mutex>      // for std::lock_guard
#include <string>     // for std::string, std::to_string
#include <utility>    // for std::swap

namespace weir {

namespace detail {

// The clock and the timers of an executor on virtual time. Any thread may read the clock; if several threads
// use the timers, the executor locks around them.
class virtual_clock {
  public:
    // relaxed: only the value is used; posts order everything else
    time_point now() const noexcept { return time_point(duration(now_.load(std::memory_order_relaxed))); }
    void set(time_point t) noexcept { now_.store(t.time_since_epoch().count(), std::memory_order_relaxed); }

    // False: the timer had been cancelled; the caller makes its waiter ready.
    [[nodiscard]] bool add(timer& t) noexcept {
        const bool queued = timers_.add(t);
        if (queued) count(t, 1);
        return queued;
    }
    // True: the timer was queued; the caller makes its waiter ready.
    [[nodiscard]] bool cancel(timer& t) noexcept {
        const bool was_queued = timers_.cancel(t, now());
        if (was_queued) count(t, -1);
        return was_queued;
    }

    // Sets the clock to the earliest deadline before `limit`, and passes the waiters of the timers that are
    // due then to `ready`. Passes only timers of one timer_order: the `normal` timers of an instant come in
    // the next call, when no coroutine is ready. False if no timer is due before `limit`; or if there
    // is no limit (the largest instant), and only timers that never fire, or observers (`timer_order`).
    template <class Ready>
    bool advance(time_point limit, Ready ready) noexcept {
        const timer* const first = timers_.next();
        if (first == nullptr || first->deadline() == (time_point::max)()) return false;
        if (num_advancing_ == 0 && limit == (time_point::max)()) return false;
        const time_point at = first->deadline() < now() ? now() : first->deadline();
        if (at >= limit) return false;
        set(at);
        const timer_order order = first->order();
        while (!timers_.empty() && timers_.next()->deadline() <= at && timers_.next()->order() == order) {
            timer* const due = timers_.pop_due(at);
            count(*due, -1);
            ready(due->waiter());
        }
        return true;
    }

    // The number of timers that never fire, without observers.
    // relaxed: a number for a report
    std::ptrdiff_t num_endless() const noexcept { return num_endless_.load(std::memory_order_relaxed); }

  private:
    // A timer at the largest instant never fires. Others let `advance` without a limit move the clock. An
    // observer (`before_all`), as a run's wait for its own end, counts as neither.
    void count(const timer& t, std::ptrdiff_t change) noexcept {
        if (t.order() != timer_order::normal) return;
        if (t.deadline() == (time_point::max)()) {
            num_endless_.fetch_add(change, std::memory_order_relaxed);  // relaxed: see num_endless()
        } else {
            num_advancing_ += change;
        }
    }

    timer_queue timers_;
    std::ptrdiff_t num_advancing_ = 0;  // how many of the timers make time advance
    standard_platform::atomic<std::ptrdiff_t> num_endless_{0};
    standard_platform::atomic<std::int64_t> now_{0};
};

// The common base of executors on virtual time: the clock, and the registry of objects with waiters.
class virtual_executor : public executor {
  public:
    [[nodiscard]] time_point now() const noexcept final { return clock_.now(); }

  protected:
    virtual_executor() : executor({.exclusive = true, .waiters = &sites_, .counts_wakes = true}) {}
    ~virtual_executor() override = default;

    // The waiters as lines of text, for `throw_deadlock`; empty if there is none.
    std::string waiters() { return detail::waiters_at(sites_); }
    // Throws `deadlock_error`. The waiting coroutines are not destroyed.
    [[noreturn]] void throw_deadlock(const std::string& waiters) {
        users().allow_leftovers();
        const std::ptrdiff_t sleeps = clock_.num_endless();
        std::string who;
        if (sleeps == 1) who = "\n  a coroutine sleeps for ever";
        if (sleeps > 1) who = "\n  " + std::to_string(sleeps) + " coroutines sleep for ever";
        who += waiters;
        if (who.empty()) {
            who =
                "\n  for something other than a channel at which a coroutine of this executor was the first "
                "to wait";
        }
        throw deadlock_error(detail::without_controls(
            "weir: deadlock: nothing can run, no timer is left, and somebody waits:" + who));
    }

    virtual_clock clock_;
    registry sites_;  // the channels and others with waiters, for deadlock reports
};

}  // namespace detail

/// Runs coroutines on the calling thread in simulated time: the clock stands still while anything can run,
/// and then jumps to the earliest timer. A pipeline that sleeps for hours runs in milliseconds, and its
/// statistics are exact to the nanosecond.
///
/// Order: ready coroutines run first come, first served; with a seed other than 0, in an order drawn from the
///        seed, so that a test can explore many schedules. Statistics don't depend on the order if coroutines
///        that compete with each other do equal work.
/// Threads: one thread runs it (in `run`, `run_until`, `sync_wait`, or a blocking operation of a channel, run
///        or group). While a coroutine blocks there in a wait of the library, another thread runs it. Then
///        `run_until(t)` returns after this coroutine has resumed, even if the clock is past `t` by then.
///        Other threads may post and read the clock. Virtual time does not wait for other threads: a
///        coroutine that they have not posted by the time nothing else can run counts as never posted.
/// Errors: `deadlock_error` from the call that runs it; or, if coroutines block their threads, from the call
///         that blocked last. Out of memory when more coroutines are ready at once than ever before, and more
///         than 256: std::terminate.
/// Lifetime: outlives the coroutines that run on it.
/// Cost: computing takes no virtual time; only sleeping does.
/// Source: discrete-event simulation of the real code; the rules are those of FoundationDB's and tokio's
///        simulated clocks, made strict: time moves only when nothing is ready, to the earliest timer, and
///        all timers of that instant and the same `timer_order` fire before anything runs.
class virtual_time final : public detail::virtual_executor, detail::loop_turns::loop {
  public:
    /// \param seed 0: first come, first served; else the seed of the order of ready coroutines.
    explicit virtual_time(std::uint64_t seed = 0) : ready_(256), random_(seed) {}

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        const std::lock_guard guard(lock_);
        make_ready(h);
    }

    void add(timer& t) noexcept override {
        const std::lock_guard guard(lock_);
        if (!clock_.add(t)) make_ready(t.waiter());
    }

    void cancel(timer& t) noexcept override {
        const std::lock_guard guard(lock_);
        if (clock_.cancel(t)) make_ready(t.waiter());
    }

    /// Runs until no coroutine is ready, and no timer is left for which time advances.
    /// Errors: `deadlock_error` if a coroutine still waits then on a channel or for another part of a run. If
    ///         a coroutine blocks its thread then, its blocking call throws the error.
    void run() {
        run_to((time_point::max)());
        if (const std::string waiting = waiters(); !waiting.empty()) throw_deadlock(waiting);
    }

    /// Runs everything that happens before the instant `t`, and sets the clock to `t`. Timers that are due at
    /// `t` itself have not fired yet.
    /// Errors: a coroutine that still waits at `t` is no error, as a later call may wake the coroutine.
    void run_until(time_point t) { run_to(t); }

    bool drive(detail::parker& done, time_point limit) override {
        turns_.drive(*this, done, limit);
        return true;
    }

  private:
    // Runs everything that happens before `end`; without a limit, until nothing can run any more.
    void run_to(time_point end) {
        detail::parker never_set;  // this thread waits for nothing, but `drive` takes a flag
        end_ = end;
        runs_ = true;
        try {
            while (runs_) turns_.drive(*this, never_set, end);
        } catch (...) {
            runs_ = false;
            throw;
        }
    }

    void turn(detail::parker&, time_point limit) override {
        if (step(limit)) return;
        // Nothing can run before `limit`. If that is the end of `run_to`, ends `run_to`, unless there is no
        // limit and threads are blocked. In all other cases without a limit, this is a deadlock.
        const bool is_end = runs_ && limit == end_ && !(limit == (time_point::max)() && turns_.any_blocked());
        if (is_end) runs_ = false;
        if (limit != (time_point::max)()) {
            if (limit > now()) clock_.set(limit);
        } else if (!is_end) {
            throw_deadlock(waiters());
        }
    }
    time_point instant() const noexcept override { return now(); }
    void sleep(detail::parker&, time_point) noexcept override {}  // only coroutines run here set such flags

    // Resumes one coroutine. If none is ready, first moves the clock to the next timer before `limit`. False
    // if there is neither.
    bool step(time_point limit) {
        std::coroutine_handle<> next;
        {
            const std::lock_guard guard(lock_);
            if (ready_.empty() &&
                !clock_.advance(limit, [this](std::coroutine_handle<> h) { make_ready(h); })) {
                return false;
            }
            next = ready_.take_front();
        }
        resume(next);
        return true;
    }

    void make_ready(std::coroutine_handle<> h) noexcept {  // with a seed: at a random place in the queue
        ready_.push_back(h);
        if (random_ == 0) return;
        // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016)
        random_ ^= random_ >> 12;
        random_ ^= random_ << 25;
        random_ ^= random_ >> 27;
        const std::size_t i =
            static_cast<std::size_t>((random_ * 0x2545f4914f6cdd1dULL) >> 33) % ready_.size();
        std::swap(ready_[i], ready_.back());
    }

    detail::spin_lock lock_;
    detail::ready_queue ready_;
    std::uint64_t random_;      // the generator's state; 0: first come, first served
    bool runs_ = false;         // `run_to` goes on: something may be left to run before `end_`
    time_point end_;            // the argument of `run_to`
    detail::loop_turns turns_;  // lets another thread run this while a coroutine blocks its thread
};

}  // namespace weir

#endif
