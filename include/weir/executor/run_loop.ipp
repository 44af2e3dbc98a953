// weir executor, internal: bodies of the functions of executor/run_loop.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_RUN_LOOP_IPP
#define WEIR_EXECUTOR_RUN_LOOP_IPP

#include <weir/executor/run_loop.hpp>

#include <weir/platform/config.hpp>

#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir {

WEIR_INLINE void run_loop::post(std::coroutine_handle<> h) noexcept {
    const std::lock_guard guard(lock_);
    ready_.push_back(h);
    if (sleeper_ != nullptr) sleeper_->poke();
}

WEIR_INLINE void run_loop::add(timer& t) noexcept {
    const std::lock_guard guard(lock_);
    if (!timers_.add(t)) ready_.push_back(t.waiter());
    if (sleeper_ != nullptr) sleeper_->poke();
}

WEIR_INLINE void run_loop::cancel(timer& t) noexcept {
    const std::lock_guard guard(lock_);
    if (!timers_.cancel(t, now())) return;
    ready_.push_back(t.waiter());
    if (sleeper_ != nullptr) sleeper_->poke();
}

WEIR_INLINE bool run_loop::drive(detail::parker& done, time_point limit) {
    if (!turns_.is_held_here() && detail::standard_platform::this_thread() != thread_) return false;
    turns_.drive(*this, done, limit);
    return true;
}

WEIR_INLINE void run_loop::turn(detail::parker& done, time_point limit) {
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

WEIR_INLINE void run_loop::sleep(detail::parker& done, time_point limit) noexcept {
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

}  // namespace weir

#endif
