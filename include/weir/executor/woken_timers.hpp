// weir executor, internal: the timers of an executor that something else has to wake for them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WOKEN_TIMERS_HPP
#define WEIR_EXECUTOR_WOKEN_TIMERS_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <memory>     // for std::enable_shared_from_this

namespace weir::detail {

// Shared with what wakes it, which may outlive the executor. `Derived` has the clock of `executor::now`, as
// `static time_point now()`, and `set()`, which is to have `fire()` called at `next()`, or never. It may be
// called by several threads at once.
template <class Derived>
class woken_timers : public std::enable_shared_from_this<Derived> {
  public:
    // As those of the executor.
    void add(timer& t) noexcept {
        using added = basic_locked_timers<>::added;
        const std::coroutine_handle<> waiter = t.waiter();
        const auto me = this->shared_from_this();  // once it was added it may fire, and the executor be gone
        const added what = queue_.add(t);
        if (what == added::refused) executor_->post(waiter);
        if (what == added::earliest) me->set();
    }
    void cancel(timer& t) noexcept {
        const std::coroutine_handle<> waiter = t.waiter();
        if (!queue_.cancel(t, Derived::now())) return;
        // To be woken too early does no harm; for nobody, it may keep the other one from its end.
        if (is_empty()) static_cast<Derived*>(this)->set();
        executor_->post(waiter);
    }

  protected:
    explicit woken_timers(executor& ex) noexcept : executor_(&ex) {}
    ~woken_timers() = default;

    bool is_empty() const noexcept { return queue_.next() == queue_.never; }
    // Where it isn't empty.
    time_point next() const noexcept { return time_point(duration(queue_.next())); }

    // Posts those that are due. Where the executor is gone there are none.
    void fire_due() {
        queue_.fire(Derived::now(), [this](std::coroutine_handle<> h) { executor_->post(h); });
    }

  private:
    executor* executor_;
    basic_locked_timers<> queue_;
};

}  // namespace weir::detail

#endif
