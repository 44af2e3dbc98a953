// weir executor, internal: bodies of the functions of executor/virtual_time.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_VIRTUAL_TIME_IPP
#define WEIR_EXECUTOR_VIRTUAL_TIME_IPP

#include <weir/executor/virtual_time.hpp>

#include <weir/platform/config.hpp>

#include <mutex>    // for std::lock_guard
#include <utility>  // for std::swap

namespace weir::detail {

WEIR_INLINE bool virtual_clock::add(timer& t) noexcept {
    const bool queued = timers_.add(t);
    if (queued && advances_time(t)) ++num_advancing_;
    return queued;
}

WEIR_INLINE bool virtual_clock::cancel(timer& t) noexcept {
    const bool was_queued = timers_.cancel(t, now());
    if (was_queued && advances_time(t)) --num_advancing_;
    return was_queued;
}

WEIR_INLINE bool virtual_clock::advances_time(const timer& t) noexcept {
    return t.order() == timer_order::normal && t.deadline() != (time_point::max)();
}

WEIR_INLINE void virtual_executor::throw_deadlock(const std::string& waiters) {
    users().allow_leftovers();
    throw deadlock_error("weir: deadlock: nothing can run, no timer is left, and somebody waits:" +
                         (waiters.empty() ? std::string("\n  for something other than a channel") : waiters));
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE void virtual_time::post(std::coroutine_handle<> h) noexcept {
    const std::lock_guard guard(lock_);
    make_ready(h);
}

WEIR_INLINE void virtual_time::add(timer& t) noexcept {
    const std::lock_guard guard(lock_);
    if (!clock_.add(t)) make_ready(t.waiter());
}

WEIR_INLINE void virtual_time::cancel(timer& t) noexcept {
    const std::lock_guard guard(lock_);
    if (clock_.cancel(t)) make_ready(t.waiter());
}

WEIR_INLINE void virtual_time::run() {
    run_to((time_point::max)());
    if (const std::string waiting = waiters(); !waiting.empty()) throw_deadlock(waiting);
}

WEIR_INLINE bool virtual_time::drive(detail::parker& done, time_point limit) {
    turns_.drive(*this, done, limit);
    return true;
}

WEIR_INLINE void virtual_time::run_to(time_point end) {
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

WEIR_INLINE void virtual_time::turn(detail::parker&, time_point limit) {
    if (step(limit)) return;
    const bool is_end = runs_ && limit == end_ && !(limit == (time_point::max)() && turns_.any_blocked());
    if (is_end) runs_ = false;
    if (limit != (time_point::max)()) {
        if (limit > now()) clock_.set(limit);
    } else if (!is_end) {
        throw_deadlock(waiters());
    }
}

WEIR_INLINE bool virtual_time::step(time_point limit) {
    std::coroutine_handle<> next;
    {
        const std::lock_guard guard(lock_);
        if (ready_.empty() && !clock_.advance(limit, [this](std::coroutine_handle<> h) { make_ready(h); })) {
            return false;
        }
        next = ready_.take_front();
    }
    resume(next);
    return true;
}

WEIR_INLINE void virtual_time::make_ready(std::coroutine_handle<> h) noexcept {
    ready_.push_back(h);
    if (random_ == 0) return;
    // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016)
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    const std::size_t i = static_cast<std::size_t>((random_ * 0x2545f4914f6cdd1dULL) >> 33) % ready_.size();
    std::swap(ready_[i], ready_.back());
}

}  // namespace weir

#endif
