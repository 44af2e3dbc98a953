// weir task, internal: something that happens after a time, unless it is called off
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_DELAYED_ACTION_HPP
#define WEIR_TASK_DELAYED_ACTION_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <utility>    // for std::move

namespace weir::detail {

// Calls `action()` on the executor once `after` has passed there, unless it is called off before. Who
// has set it has to `co_await off()` before it goes.
template <class Action>
class delayed_action final : detached_task_owner {
  public:
    delayed_action(executor& ex, duration after, Action action)
        : action_(std::move(action)), detached_task_(expire_after(*this, after)) {
        detached_task_.start(ex, nullptr, *this);
    }
    delayed_action(const delayed_action&) = delete;
    delayed_action& operator=(const delayed_action&) = delete;
    ~delayed_action() = default;

    // Awaitable of void: its action has run, or never will. Resumes on the coroutine's executor.
    class [[nodiscard("co_await this, or the action may still happen")]] call_off {
      public:
        explicit call_off(delayed_action& a) noexcept : delayed_(a) {}
        bool await_ready() const noexcept {
            delayed_.off_.request_stop();
            return delayed_.state_.load(std::memory_order_acquire) == has_ended;  // pairs with ended()
        }
        // Resumes on the coroutine's executor, posted when the action has returned, or never will run.
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
            const coroutine_env env = detail::env_of(h);
            delayed_.waiter_ = h;
            delayed_.executor_ = env.executor;
            who_ = env.measured;
            ends_ = env.ends;
            if (who_ != nullptr) who_->leave_thread();
            int expected = running;
            // acq_rel; pairs with the exchange in ended()
            return delayed_.state_.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel);
        }
        void await_resume() const noexcept {
            who_ != nullptr ? who_->enter_thread() : trampoline::is_work_of(whose_work(ends_));
        }

      private:
        delayed_action& delayed_;
        slot* who_ = nullptr;  // the time counts as its work
        const end_token* ends_ = nullptr;
    };
    call_off off() noexcept { return call_off(*this); }

  private:
    static detached_task<void> expire_after(delayed_action& me, duration after) {
        const bool passed = co_await sleep_for(after, me.off_.get_token());
        if (passed) me.action_();
    }

    void ended() noexcept override {
        // acq_rel; pairs with await_suspend(). If nobody waits yet, this may be gone after it; if
        // somebody does, it stays until that coroutine has been posted.
        if (state_.exchange(has_ended, std::memory_order_acq_rel) == awaited) executor_->post(waiter_);
    }

    static constexpr int running = 0;
    static constexpr int awaited = 1;
    static constexpr int has_ended = 2;
    Action action_;
    stop_source off_;
    standard_platform::atomic<int> state_{running};
    executor* executor_ = nullptr;
    std::coroutine_handle<> waiter_;
    detached_task<void> detached_task_;
};

}  // namespace weir::detail

#endif
