// weir run, internal: bodies of the functions of run/invocation.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_INVOCATION_IPP
#define WEIR_RUN_INVOCATION_IPP

#include <weir/run/invocation.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/task/stop_token.hpp>

#include <exception>  // for std::rethrow_exception, std::throw_with_nested
#include <utility>    // for std::move

namespace weir {

WEIR_INLINE time_limit_exceeded::time_limit_exceeded(duration limit)
    : std::runtime_error("weir: an invocation took longer than its stage's time limit of " +
                         units::time(limit)),
      limit_(limit) {}

namespace detail {

WEIR_INLINE task_timer::task_timer(coroutine_env& env, duration limit, stop_token run_ends)
    : env_(env), outer_(env.ends), executor_(*env.executor), limit_(limit),
      deadline_(saturating_add(executor_.now(), limit)), on_end_(std::move(run_ends), forward_stop{&stop_}),
      delayed_(executor_, limit, expire{this}) {
    env.ends = &end_token_;
}

WEIR_INLINE task_timer::~task_timer() { env_.ends = outer_; }

WEIR_INLINE bool task_timer::fail_if_late(std::exception_ptr& error) const noexcept {
    if (!was_late_ && !expired_) return false;
    try {
        if (!error) throw time_limit_exceeded(limit_);
        try {
            try {
                std::rethrow_exception(error);
            } catch (const stopped_after_error& end) {
                std::rethrow_exception(end.last);
            }
        } catch (const stopped&) {
            throw time_limit_exceeded(limit_);
        } catch (...) {
            std::throw_with_nested(time_limit_exceeded(limit_));
        }
    } catch (...) {
        error = std::current_exception();
    }
    return true;
}

WEIR_INLINE invocation_guard::invocation_guard(const std::vector<shared_hook>& hooks,
                                               const stop_token& run_ends, const std::string& stage,
                                               std::uint64_t item, std::uint64_t epoch, std::size_t slot,
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

WEIR_INLINE invocation_guard::~invocation_guard() = default;

WEIR_INLINE void invocation_guard::end(const any_item& output, std::exception_ptr& error) noexcept {
    call_.output_ = output;
    while (entered_ > 0) {
        try {
            hooks_[--entered_]->after(call_, error);
        } catch (...) {
            if (!error) error = std::current_exception();
        }
    }
}

}  // namespace detail

}  // namespace weir

#endif
