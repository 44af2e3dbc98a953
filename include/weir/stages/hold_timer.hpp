// weir stages, internal: the timer of a slot that may hold items for a limited time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_HOLD_TIMER_HPP
#define WEIR_STAGES_HOLD_TIMER_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/sleep.hpp>

#include <atomic>    // for std::memory_order_relaxed
#include <optional>  // for std::optional

namespace weir::detail {

// `Queue`: from which the slot takes. When the time is over, the slot is recalled from its wait for an item.
template <class Queue, class Slot>
class hold_timer {
  public:
    // The time counts from the arrival of the last item, also while a result of that item waits for room.
    void item_came(const executor& ex) noexcept { came_ = ex.now(); }
    bool runs() const noexcept { return timer_.has_value(); }
    // Errors: `std::bad_alloc`.
    void start(executor& ex, duration patience, Queue& from, Slot& who) {
        timer_.emplace(ex, patience - (ex.now() - came_), expire{&from, &who});
    }
    // Awaitable of void. Resumes on the coroutine's executor. Then `finish_cancel` has to be called.
    auto cancel() noexcept { return timer_->cancel(); }
    void finish_cancel(Slot& me) noexcept {
        timer_.reset();
        me.recalled.store(false, std::memory_order_relaxed);  // the timer, its only other writer, is gone
    }

  private:
    struct expire {
        Queue* queue;
        Slot* who;
        void operator()() const noexcept {
            who->recalled.store(true, std::memory_order_relaxed);  // the lock of `recall` publishes the flag
            detail::inside(*queue).recall(*who);
        }
    };

    std::optional<delayed_action<expire>> timer_;
    time_point came_{};
};

}  // namespace weir::detail

#endif
