// weir stages, internal: the guard around a task: hooks, the `invocation`, and the time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_INVOCATION_GUARD_HPP
#define WEIR_STAGES_INVOCATION_GUARD_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/time_limit.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// Surrounds one task. Made only where something is to be done: most stages have neither hooks nor a time
// limit nor a function that takes the `invocation`.
class invocation_guard {
  public:
    // Begins the task. `error` is set where that fails: a hook threw, or there is no memory for the timer.
    invocation_guard(const std::vector<shared_hook>& hooks, const stop_token& run_ends,
                     const std::string& stage, std::uint64_t item, std::uint64_t epoch, std::size_t slot,
                     const any_item& input, duration time_limit, coroutine_env& env,
                     std::exception_ptr& error) noexcept
        : hooks_(hooks), call_(stage, item, epoch, slot, run_ends) {
        try {
            if (time_limit > duration(0)) {
                timer_.emplace(env, time_limit, run_ends);
                call_ = invocation(stage, item, epoch, slot, timer_->token());
            }
            call_.input_ = input;
            while (entered_ < hooks_.size()) {
                hooks_[entered_]->before(call_);
                ++entered_;
            }
        } catch (...) {
            error = std::current_exception();
        }
        call_.input_ = any_item();  // the function moves from the item
    }
    invocation_guard(const invocation_guard&) = delete;
    invocation_guard& operator=(const invocation_guard&) = delete;

    const invocation& call() const noexcept { return call_; }
    // The timer of the time limit, or null. The worker awaits its `off()` after the function has ended.
    task_timer* timer() noexcept { return timer_ ? &*timer_ : nullptr; }

    // Ends the task: the hooks whose `before` has returned are called, the last one first. They may set
    // `error`.
    void end(const any_item& output, std::exception_ptr& error) noexcept {
        call_.output_ = output;
        while (entered_ > 0) {
            try {
                hooks_[--entered_]->after(call_, error);
            } catch (...) {
                if (!error) error = std::current_exception();
            }
        }
    }

  private:
    const std::vector<shared_hook>& hooks_;
    invocation call_;
    std::optional<task_timer> timer_;
    std::size_t entered_ = 0;  // hooks whose `before` has returned
};

}  // namespace weir::detail

#endif
