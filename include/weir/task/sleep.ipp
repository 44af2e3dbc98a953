// weir task, internal: bodies of the functions of task/sleep.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_SLEEP_IPP
#define WEIR_TASK_SLEEP_IPP

#include <weir/task/sleep.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

WEIR_INLINE sleep_operation::~sleep_operation() {
    if (sleeps_on_ == nullptr) return;
    on_stop_.reset();
    on_end_.reset();
    timer_->forget_waiter();
    sleeps_on_->cancel(*timer_);
}

WEIR_INLINE bool sleep_operation::await_resume() {
    on_stop_.reset();  // waits for a callback that runs right now
    on_end_.reset();
    sleeps_on_ = nullptr;
    if (timer_->cancelled() && !stop_.stop_requested()) throw stopped();
    return !timer_->cancelled();
}

WEIR_INLINE void sleep_operation::begin(std::coroutine_handle<> sleeper, const coroutine_env& env) {
    executor& ex = detail::executor_of(env);
    const time_point now = ex.now();
    const time_point deadline =
        relative_ ? saturating_add(now, duration_ < duration(0) ? duration(0) : duration_) : deadline_;
    timer_.emplace(deadline, sleeper, order_);
    if (deadline <= now && order_ == timer_order::normal) {
        yielded_at_ = now;
        ex.post(sleeper);  // the coroutine may be running elsewhere from here on
        return;
    }
    if (stop_.stop_possible()) {
        // The callback may run at once, and cancel the timer: `add` posts the coroutine then.
        on_stop_.emplace(stop_, wake_early{&ex, &*timer_});
    }
    if (env.ends != nullptr) on_end_.emplace(*env.ends->stop, wake_early{&ex, &*timer_});
    sleeps_on_ = &ex;
    ex.add(*timer_);  // the coroutine may be running elsewhere from here on
}

WEIR_INLINE void any_delayed_action::cancel_operation::await_resume() const noexcept {
    if (!has_begun_) return;
    measured_ != nullptr ? measured_->enter_thread() : trampoline::set_work_here(work_of(ends_));
}

WEIR_INLINE bool any_delayed_action::cancel_operation::begin(std::coroutine_handle<> waiter,
                                                             const coroutine_env& env) noexcept {
    delayed_.waiter_ = waiter;
    delayed_.executor_ = env.executor;
    has_begun_ = true;
    measured_ = env.measured;
    ends_ = env.ends;
    if (measured_ != nullptr) measured_->leave_thread();
    int expected = running;
    // acq_rel; pairs with the exchange in ended()
    return delayed_.state_.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel);
}

WEIR_INLINE any_delayed_action::any_delayed_action(duration after)
    : detached_task_(act_after(*this, after)) {}

// In this file, as g++ 12 compiles a coroutine that is no template in each file that has its body.
WEIR_INLINE detached_task<void> any_delayed_action::act_after(any_delayed_action& me, duration after) {
    const bool passed = co_await sleep_for(after, me.stop_.get_token());
    if (passed) me.act();
}

WEIR_INLINE void any_delayed_action::ended() noexcept {
    // acq_rel; pairs with begin() and await_ready(): the waiting coroutine sees what the action did. If no
    // coroutine waits yet, this object may be gone afterwards. If a coroutine waits, the object stays until
    // that coroutine has been posted.
    if (state_.exchange(has_ended, std::memory_order_acq_rel) == awaited) executor_->post(waiter_);
}

}  // namespace weir::detail

#endif
