// weir executor, internal: bodies of the functions of executor/locked_timers.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_LOCKED_TIMERS_IPP
#define WEIR_EXECUTOR_LOCKED_TIMERS_IPP

#include <weir/executor/locked_timers.hpp>

#include <weir/platform/config.hpp>

namespace weir {

template <class Platform>
WEIR_INLINE auto basic_locked_timers<Platform>::add(timer& t) noexcept -> added {
    return add(t, [] {});
}

template <class Platform>
WEIR_INLINE bool basic_locked_timers<Platform>::cancel(timer& t, time_point now) noexcept {
    std::lock_guard guard(lock_);
    if (!timers_.cancel(t, now)) return false;
    publish();
    return true;
}

template <class Platform>
WEIR_INLINE void basic_locked_timers<Platform>::publish() noexcept {
    const timer* const t = timers_.next();
    next_.store(t == nullptr ? never : t->deadline().time_since_epoch().count(), std::memory_order_seq_cst);
}

}  // namespace weir

#endif
