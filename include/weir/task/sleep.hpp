// weir task: waiting for an instant of the executor's clock
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_SLEEP_HPP
#define WEIR_TASK_SLEEP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/foreign_executor.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t
#include <optional>   // for std::optional
#include <utility>    // for std::move

namespace weir {

namespace detail {

class sleep_operation {
  public:
    sleep_operation(duration d, time_point t, bool relative, timer_order order, stop_token stop) noexcept
        : duration_(d), deadline_(t), relative_(relative), order_(order), stop_(std::move(stop)) {}
    sleep_operation(const sleep_operation&) = delete;
    sleep_operation& operator=(const sleep_operation&) = delete;

    // Still asleep only if its frame is destroyed, on an executor that runs nothing meanwhile.
    ~sleep_operation() {
        if (sleeps_on_ == nullptr) return;
        on_stop_.reset();
        on_end_.reset();
        timer_->forget_waiter();
        sleeps_on_->cancel(*timer_);
    }

    bool await_ready() const noexcept { return false; }

    // Resumes on the executor by whose clock it sleeps, which posts it.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const coroutine_env env = detail::env_of(h);
        executor& ex = detail::executor_of(env);
        const time_point now = ex.now();
        const time_point deadline =
            relative_ ? saturating_add(now, duration_ < duration(0) ? duration(0) : duration_) : deadline_;
        timer_.emplace(deadline, h, order_);
        if (deadline <= now && order_ == timer_order::normal) {
            yielded_at_ = now;
            ex.post(h);  // the coroutine may be running elsewhere from here on
            return true;
        }
        if (stop_.stop_possible()) {
            // May run at once, which marks the timer: `add` posts it then.
            on_stop_.emplace(stop_, wake_early{&ex, &*timer_});
        }
        if (env.ends != nullptr) on_end_.emplace(*env.ends->stop, wake_early{&ex, &*timer_});
        sleeps_on_ = &ex;
        ex.add(*timer_);  // the coroutine may be running elsewhere from here on
        return true;
    }

    // False if it was the stop that woke it.
    bool await_resume() {
        on_stop_.reset();  // waits for a callback that runs right now
        on_end_.reset();
        sleeps_on_ = nullptr;
        if (timer_->cancelled() && !stop_.stop_requested()) throw stopped();
        return !timer_->cancelled();
    }

    std::int64_t ready_at() const noexcept {
        return (yielded_at_ ? *yielded_at_ : timer_->fired()).time_since_epoch().count();
    }

  private:
    struct wake_early {
        weir::executor* executor;
        timer* sleeper;
        void operator()() const noexcept { executor->cancel(*sleeper); }
    };

    duration duration_;
    time_point deadline_;
    bool relative_;
    timer_order order_;
    stop_token stop_;
    executor* sleeps_on_ = nullptr;
    std::optional<timer> timer_;
    std::optional<time_point> yielded_at_;
    std::optional<stop_callback<wake_early>> on_stop_;
    std::optional<stop_callback<wake_early>> on_end_;
};

}  // namespace detail

/// Waits until `d` has passed on the clock of the coroutine's executor; at least once around its
/// queue if `d` is zero or less.
///
/// \returns  awaitable of `bool`: true = the time has passed, false = `stop` asked before.
/// Suspends: always. Resumes: on the coroutine's executor, not before the time; one of another library that
///           runs on none where a `channel` would resume it, by whose clock it sleeps.
/// Errors:   `stopped` in a function of a stage whose run is stopped before, unless `stop` asked, too. In a
///           coroutine of another library that no executor runs: those of `channel`.
/// Cost:     no allocation. A stop that may come costs two short locks; each stage's run is one. On Windows a
///           sleep may be 16 ms too long: timers tick so there, unless a program calls `timeBeginPeriod`.
[[nodiscard("co_await this, or nobody sleeps")]] inline auto sleep_for(duration d, stop_token stop = {}) {
    return detail::sleep_operation(d, {}, true, timer_order::normal, std::move(stop));
}

/// The same until the instant `t` of that clock. With `timer_order::before_all` the coroutine runs
/// before everything else that is due at `t`, where the executor can tell (virtual time can); it only
/// watches then: where nothing else is left to do, virtual time doesn't go on to `t` for its sake.
[[nodiscard("co_await this, or nobody sleeps")]] inline auto sleep_until(
    time_point t, stop_token stop = {}, timer_order order = timer_order::normal) {
    return detail::sleep_operation({}, t, false, order, std::move(stop));
}

/// Lets everything else that is ready on the executor go first. Brings a coroutine back to its executor that
/// something of another library has resumed elsewhere.
///
/// \returns  awaitable, whose result says nothing.
/// Suspends: always. Resumes: on the coroutine's executor, or where a `channel` would resume one that runs on
///           none.
/// Errors:   in a coroutine of another library that no executor runs: those of `channel`.
[[nodiscard("co_await this, or nothing is yielded")]] inline auto yield() {
    return detail::sleep_operation(duration(0), {}, true, timer_order::normal, {});
}

}  // namespace weir

#endif
