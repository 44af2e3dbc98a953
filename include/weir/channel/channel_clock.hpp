// weir channel, internal: in whose time a channel measures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_CLOCK_HPP
#define WEIR_CHANNEL_CHANNEL_CLOCK_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/process.hpp>

#include <cstdint>  // for std::int64_t

namespace weir::detail {

// The executor that a channel was given as its clock, which outlives it; or the first on which somebody needs
// the time, which may be gone before: then nothing of that is touched any more. Changed under the channel's
// locks.
template <class Platform>
class channel_clock {
  public:
    // `given`: null for none.
    explicit channel_clock(executor* given) noexcept
        : bound_(given != nullptr), owner_(given), given_(given, executor_user::channel) {}

    bool bound() const noexcept { return bound_; }

    // Which a thread may have to run that waits; null: none. Under no lock: a hint.
    executor* owner() const noexcept {
        executor* const it = owner_.load(std::memory_order_acquire);  // pairs with bind()
        return it == nullptr || end_.is_set() ? nullptr : it;
    }

    // Whether that has its threads in another process, where they may have locked the channel. One load where
    // nothing was forked.
    bool is_orphaned() const noexcept {
        if (!was_forked()) return false;
        const executor* const it = owner();
        return it != nullptr && it->orphaned();
    }

    // In ns. Without a clock 0; before all that there was, if that is gone: time stands still.
    std::int64_t now() const noexcept {
        if (const executor* const it = owner()) return it->now().time_since_epoch().count();
        if (owner_.load(std::memory_order_relaxed) != nullptr) return INT64_MIN;
        return bound_ ? Platform::now() : 0;
    }

    // By the object only where that isn't gone sooner than one would think. False: it had a clock before.
    bool bind(executor& ex) noexcept {
        if (bound_) return false;
        bound_ = true;
        if (ex.traits().passing) return true;
        executor& owner = ex.lasting();
        end_ = executor_use::end_of(owner);
        owner_.store(&owner, std::memory_order_release);  // pairs with owner(): end_ is there before
        return true;
    }

  private:
    bool bound_;  // to a clock; the one of `executor::now` if there is no owner
    typename Platform::template atomic<executor*> owner_;
    end_flag end_;  // of an owner that wasn't given
    const executor_use given_;
};

}  // namespace weir::detail

#endif
