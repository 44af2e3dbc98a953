// weir executor: an executor that one thread runs, and any thread may post to
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_RUN_LOOP_HPP
#define WEIR_EXECUTOR_RUN_LOOP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/loop_turns.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <mutex>      // for std::lock_guard
#include <utility>    // for std::exchange

namespace weir {

namespace detail {
class endless_loop;
}

/// Runs coroutines on the thread that constructed it, whenever that thread calls `drive`, first come, first
/// served. While a coroutine blocks there in a wait of the library, another thread runs the loop. The
/// executor inside of `sync_wait`.
///
/// Threads: the constructing thread drives; any thread may post.
/// Lifetime: destroyed when no coroutine uses it any more.
/// Cost:     a short lock for each post and for each resumption.
class run_loop final : public executor, detail::loop_turns::loop {
  public:
    run_loop() : run_loop(executor_traits{.passing = true, .counts_wakes = true}) {}

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        const std::lock_guard guard(lock_);
        ready_.push_back(h);
        if (sleeper_ != nullptr) sleeper_->poke();
    }

    void add(timer& t) noexcept override {
        const std::lock_guard guard(lock_);
        if (!timers_.add(t)) ready_.push_back(t.waiter());
        if (sleeper_ != nullptr) sleeper_->poke();
    }

    void cancel(timer& t) noexcept override {
        const std::lock_guard guard(lock_);
        if (!timers_.cancel(t, now())) return;
        ready_.push_back(t.waiter());
        if (sleeper_ != nullptr) sleeper_->poke();
    }

    /// Runs the next coroutine. If none is ready, sleeps until one is posted, a timer is due, `done` is set,
    /// or `limit`.
    /// \returns false on any thread but the loop's own: the caller has to sleep.
    bool drive(detail::parker& done, time_point limit) override {
        if (!turns_.are_below() && detail::standard_platform::this_thread() != thread_) return false;
        turns_.drive(*this, done, limit);
        return true;
    }

  private:
    friend detail::endless_loop;
    explicit run_loop(const executor_traits& traits) : executor(traits) {}

    void turn(detail::parker& done, time_point limit) override {
        std::coroutine_handle<> next;
        time_point until = limit;
        {
            const std::lock_guard guard(lock_);
            if (!timers_.empty()) {
                const time_point t = now();
                while (timer* const due = timers_.pop_due(t)) ready_.push_back(due->waiter());
                if (!timers_.empty()) until = detail::smaller(until, timers_.next()->deadline());
            }
            if (!ready_.empty()) {
                next = ready_.take_front();
            } else {
                if (std::exchange(looks_again_, false)) return;
                sleeper_ = &done;
            }
        }
        if (next) return resume(next);
        detail::thread_place::leave_here();
        if (until == (time_point::max)()) {
            const detail::basic_blocked_thread<detail::standard_platform> here(&done);
            here.wait(done);
        } else {
            const time_point t = now();
            if (until > t) done.wait((until - t).count());
        }
        const std::lock_guard guard(lock_);
        sleeper_ = nullptr;
    }
    time_point instant() const noexcept override { return now(); }
    void sleep(detail::parker& done, time_point limit) noexcept override {
        while (!done.is_set()) {
            const bool has_no_limit = limit == (time_point::max)();
            const std::int64_t left = has_no_limit ? -1 : (limit - now()).count();
            if (!has_no_limit && left <= 0) break;
            done.wait(left);
        }
        const std::lock_guard guard(lock_);
        looks_again_ = true;
        if (sleeper_ != nullptr) sleeper_->poke();
    }

    const decltype(detail::standard_platform::this_thread()) thread_ =
        detail::standard_platform::this_thread();
    detail::spin_lock lock_;
    detail::ready_queue ready_;
    timer_queue timers_;
    detail::parker* sleeper_ = nullptr;  // of the thread that runs the loop and found nothing ready
    bool looks_again_ = false;           // that thread does not sleep the next time
    detail::loop_turns turns_;
};

}  // namespace weir

#endif
