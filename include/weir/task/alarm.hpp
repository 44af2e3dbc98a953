// weir task, internal: something that happens after a time, unless it is called off
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_ALARM_HPP
#define WEIR_TASK_ALARM_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/root.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <utility>    // for std::move

namespace weir::detail {

// Calls `action()` on the executor once `after` has passed there, unless it is called off before. Who
// has set it has to `co_await off()` before it goes.
template <class Action>
class alarm final : root_owner {
  public:
    alarm(executor& home, duration after, Action action)
        : action_(std::move(action)), root_(ring_after(*this, after)) {
        root_.start(home, nullptr, *this);
    }
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;
    ~alarm() = default;

    // Awaitable of void: it has rung, or never will. Resumes on the coroutine's executor.
    class [[nodiscard("co_await this, or the alarm is not off")]] call_off {
      public:
        explicit call_off(alarm& a) noexcept : alarm_(a) {}
        bool await_ready() const noexcept {
            alarm_.off_.request_stop();
            return alarm_.state_.load(std::memory_order_acquire) == has_ended;  // pairs with ended()
        }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
            const coroutine_env env = detail::env_of(h);
            alarm_.waiter_ = h;
            alarm_.home_ = env.home;
            who_ = env.measured;
            ends_ = env.ends;
            if (who_ != nullptr) who_->leaves_thread();
            int expected = running;
            // acq_rel; pairs with the exchange in ended()
            return alarm_.state_.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel);
        }
        void await_resume() const noexcept {
            if (who_ != nullptr) {
                who_->is_on_thread();
            } else if (ends_ != nullptr) {
                trampoline::is_work_of(ends_);
            }
        }

      private:
        alarm& alarm_;
        slot* who_ = nullptr;  // the time counts as its work
        const end_token* ends_ = nullptr;
    };
    call_off off() noexcept { return call_off(*this); }

  private:
    static root<void> ring_after(alarm& me, duration after) {
        const bool passed = co_await sleep_for(after, me.off_.get_token());
        if (passed) me.action_();
    }

    void ended() noexcept override {
        // acq_rel; pairs with await_suspend(). If nobody waits yet, the alarm may be gone after it; if
        // somebody does, it stays until that coroutine has been posted.
        if (state_.exchange(has_ended, std::memory_order_acq_rel) == awaited) home_->post(waiter_);
    }

    static constexpr int running = 0;
    static constexpr int awaited = 1;
    static constexpr int has_ended = 2;
    Action action_;
    stop_source off_;
    standard_platform::atomic<int> state_{running};
    executor* home_ = nullptr;
    std::coroutine_handle<> waiter_;
    root<void> root_;
};

}  // namespace weir::detail

#endif
