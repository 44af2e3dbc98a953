// weir executor: an executor whose clock moves only when nothing can run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_VIRTUAL_TIME_HPP
#define WEIR_EXECUTOR_VIRTUAL_TIME_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/loop_turns.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_clock.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/spin_lock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <mutex>      // for std::lock_guard
#include <string>     // for std::string
#include <utility>    // for std::swap

namespace weir {

/// Runs everything on the calling thread, exactly: the clock stands still while anything can run,
/// and then jumps to the earliest timer. A pipeline that sleeps for hours runs in milliseconds, and
/// its statistics are exact to the nanosecond.
///
/// Order: what is ready runs first come, first served; with a seed other than 0, in an order drawn
///        from it, so that one test explores many schedules. What the statistics say doesn't depend
///        on it.
/// Threads: one runs it (`run`, `run_until`, `sync_wait`, or a blocking get of a pipeline's run); while a
///        coroutine blocks there, in a wait of the library, another one does instead. `run_until` comes back
///        after the coroutine that blocks its thread has gone on, even if that is later.
///        Others may post to it and read the clock; but it doesn't wait for them: what they have not
///        posted by the time nothing else can run counts as never coming.
/// Errors: `deadlock_error` from whatever runs it. No memory to have more coroutines ready at once than
///         ever before, and than 256: std::terminate.
/// Lifetime: outlives the coroutines that run on it.
/// Cost: work done by the processor takes no virtual time; only sleeping does.
/// Source: discrete-event simulation of the real code; the rules are those of FoundationDB's and
///        tokio's simulated clocks, made strict: time moves at quiescence only, to the earliest
///        timer, and all timers of that instant fire before anything runs.
class virtual_time final : public detail::virtual_executor, detail::loop_turns::loop {
  public:
    /// \param seed 0: first come, first served; else the seed of the order of what is ready.
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

    /// Runs until nothing is ready and no timer is left.
    /// Errors: `deadlock_error` if a coroutine still waits on a channel then.
    void run() {
        run_to((time_point::max)());
        if (const std::string who = waiters(); !who.empty()) throw_deadlock(who);
    }

    /// Runs everything that happens before the instant `t`, and sets the clock to `t`. What is due at
    /// `t` itself has not happened yet.
    /// Errors: none of its own; whoever waits then may still be woken.
    void run_until(time_point t) { run_to(t); }

    bool drive(detail::parker& done, time_point limit) override {
        turns_.drive(*this, done, limit);
        return true;
    }

  private:
    void run_to(time_point end) {
        detail::parker nobody;
        end_ = end;
        runs_ = true;
        try {
            while (runs_) turns_.drive(*this, nobody, end);
        } catch (...) {
            runs_ = false;
            throw;
        }
    }

    void turn(detail::parker&, time_point limit) override {
        if (step(limit)) return;
        const bool is_end = runs_ && limit == end_ && !(limit == (time_point::max)() && turns_.any_blocked());
        if (is_end) runs_ = false;
        if (limit != (time_point::max)()) {
            if (limit > now()) clock_.set(limit);
        } else if (!is_end) {
            throw_deadlock(waiters());
        }
    }
    time_point instant() const noexcept override { return now(); }
    void sleep(detail::parker&, time_point) noexcept override {}

    // Resumes one coroutine, or moves the clock to the next instant before `limit` at which a timer
    // fires. False if there is neither.
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

    void make_ready(std::coroutine_handle<> h) noexcept {
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
    std::uint64_t random_;
    bool runs_ = false;  // until nothing is left before `end_`
    time_point end_;
    detail::loop_turns turns_;
};

}  // namespace weir

#endif
