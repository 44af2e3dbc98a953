// weir task: sleeps by the clock of the executor, and actions that run after some time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_SLEEP_HPP
#define WEIR_TASK_SLEEP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t
#include <optional>   // for std::optional
#include <utility>    // for std::move

namespace weir {

namespace detail {

class sleep_operation {  // the awaitable of `sleep_for`, `sleep_until` and `yield`
  public:
    sleep_operation(duration d, time_point t, bool relative, timer_order order, stop_token stop) noexcept
        : duration_(d), deadline_(t), relative_(relative), order_(order), stop_(std::move(stop)) {}
    sleep_operation(const sleep_operation&) = delete;
    sleep_operation& operator=(const sleep_operation&) = delete;

    // If the frame is destroyed while the coroutine sleeps: ends the stop callbacks and cancels the timer;
    // the coroutine is not resumed. Requires that no thread runs the executor's coroutines or timers then.
    ~sleep_operation();

    bool await_ready() const noexcept { return false; }

    // Resumes on the coroutine's executor, by a post: when the timer fires or is cancelled, or from this call
    // if the time has passed already.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        begin(h, detail::env_of(h));
        return true;
    }

    // True: the time has passed. False: the timer was cancelled, and a stop of `stop_` is requested by now.
    // Errors: `stopped` if the timer was cancelled without such a request: `env.ends` has ended the sleep.
    bool await_resume();

    // For the times of a slot (worker of a stage): when the coroutine was posted, in ns.
    std::int64_t ready_at() const noexcept {
        return (yielded_at_ ? *yielded_at_ : timer_->fired()).time_since_epoch().count();
    }

  private:
    // Begins the sleep of the coroutine, which may be running elsewhere when this returns.
    void begin(std::coroutine_handle<> sleeper, const coroutine_env& env);

    struct wake_early {  // the callback of a stop
        weir::executor* executor;
        timer* sleeper;
        void operator()() const noexcept { executor->cancel(*sleeper); }
    };

    duration duration_;
    time_point deadline_;
    bool relative_;  // true: `duration_` counts; false: `deadline_`
    timer_order order_;
    stop_token stop_;
    executor* sleeps_on_ = nullptr;  // the executor that has the timer; null: no sleep, or it is over
    detail::later<timer> timer_;
    std::optional<time_point> yielded_at_;              // when the coroutine was posted without a sleep
    detail::later<stop_callback<wake_early>> on_stop_;  // for a stop of `stop_`
    detail::later<stop_callback<wake_early>> on_end_;   // for a stop of `env.ends`
};

}  // namespace detail

/// Suspends the coroutine until `d` has passed on the clock of its executor. If `d` is zero or less: as
/// `yield`.
///
/// \returns  awaitable of `bool`: true = the time has passed, false = `stop` was requested earlier.
/// Suspends: always. Resumes: on the coroutine's executor, not before the time. For a coroutine of another
///           library, that is the executor that its promise names, or another one: see Resumes of `channel`.
/// Errors:   `stopped` if a stop of the stage's run, the stage's time limit or a `when_any` ends the sleep,
///           unless `stop` was requested, too. In a coroutine of another library that no executor runs:
///           `std::system_error` if the thread of weir that such coroutines share can't be started;
///           `forked_error` in a process that was forked after the start of that thread.
/// Cost:     no allocation. Two short locks if a stop is possible, as it always is in a stage's function. On
///           Windows a sleep may be 16 ms too long, the period of timers there, unless a program calls
///           `timeBeginPeriod`.
[[nodiscard("co_await this, or nobody sleeps")]] inline auto sleep_for(duration d, stop_token stop = {}) {
    return detail::sleep_operation(d, {}, true, timer_order::normal, std::move(stop));
}

/// The same as `sleep_for`, until the instant `t` of the executor's clock. With `timer_order::before_all` the
/// coroutine runs before everything else that is due at `t`, on executors that support the order (as virtual
/// time does). Such a sleep only observes: virtual time doesn't advance to `t` if nothing else is left to do.
[[nodiscard("co_await this, or nobody sleeps")]] inline auto sleep_until(
    time_point t, stop_token stop = {}, timer_order order = timer_order::normal) {
    return detail::sleep_operation({}, t, false, order, std::move(stop));
}

/// Posts the coroutine to its executor, so that other coroutines that are ready there can run first. Also
/// brings a coroutine back to its executor after an awaitable of another library resumed it elsewhere.
///
/// \returns  awaitable; its result has no meaning.
/// Suspends: always. Resumes: on the coroutine's executor, as `sleep_for`.
/// Errors:   in a coroutine of another library: those of `sleep_for` there.
[[nodiscard("co_await this, or nothing is yielded")]] inline auto yield() {
    return detail::sleep_operation(duration(0), {}, true, timer_order::normal, {});
}

namespace detail {

// The part of a `delayed_action` that does not depend on its function.
class any_delayed_action : detached_task_owner {
  public:
    any_delayed_action(const any_delayed_action&) = delete;
    any_delayed_action& operator=(const any_delayed_action&) = delete;

    class [[nodiscard("co_await this, or the action may still happen")]] cancel_operation {
      public:
        explicit cancel_operation(any_delayed_action& a) noexcept : delayed_(a) {}
        bool await_ready() const noexcept {
            delayed_.stop_.request_stop();
            return delayed_.state_.load(std::memory_order_acquire) == has_ended;  // pairs with ended()
        }
        // Resumes on the coroutine's executor, posted by ended(), when the action has returned or never will
        // run. False: ended() was called before, and the coroutine continues.
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
            return begin(h, detail::env_of(h));
        }
        void await_resume() const noexcept;

      private:
        bool begin(std::coroutine_handle<> waiter, const coroutine_env& env) noexcept;

        any_delayed_action& delayed_;
        slot* measured_ = nullptr;         // the slot (worker of a stage) whose function waits; null: none
        const end_token* ends_ = nullptr;  // names the stage or run for which the waiter works; null: unknown
        bool has_begun_ = false;           // begin() was called
    };
    // Awaitable of void: after the await, the action has run or never will. Resumes on the coroutine's
    // executor.
    cancel_operation cancel() noexcept { return cancel_operation(*this); }

  protected:
    explicit any_delayed_action(duration after);
    ~any_delayed_action() = default;
    // Starts the delay. The constructor of the derived class calls this when its function is constructed.
    void start(executor& ex) noexcept { detached_task_.start(ex, nullptr, *this); }

  private:
    static detached_task<void> act_after(any_delayed_action& me, duration after);  // then calls act()
    virtual void act() = 0;                                                        // calls the function
    WEIR_INLINE void ended() noexcept override;                                    // `act_after` has ended

    static constexpr int running = 0;  // the action has not ended, and no coroutine waits for the end
    static constexpr int awaited = 1;
    static constexpr int has_ended = 2;
    stop_source stop_;                               // ends the delay: requested by cancel()
    standard_platform::atomic<int> state_{running};  // `awaited`: cancel() waits for the end
    executor* executor_ = nullptr;                   // of the coroutine that awaits cancel()
    std::coroutine_handle<> waiter_;
    detached_task<void> detached_task_;
};

// Calls `action()` on `ex` when `after` has passed on the clock of `ex`, unless `cancel()` is awaited before.
// The owner has to `co_await cancel()` before it destroys this object.
template <class Action>
class delayed_action final : public any_delayed_action {
  public:
    delayed_action(executor& ex, duration after, Action action)
        : any_delayed_action(after), action_(std::move(action)) {
        start(ex);
    }

  private:
    void act() override { action_(); }

    Action action_;
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/task/sleep.ipp>
#endif

#endif
