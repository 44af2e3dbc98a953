// weir task, internal: an answer from outside of the library for which a coroutine waits
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_ASYNC_COMPLETION_HPP
#define WEIR_TASK_ASYNC_COMPLETION_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/external_wait.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint32_t
#include <optional>   // for std::optional
#include <utility>    // for std::in_place

namespace weir::detail {

// What a coroutine and the driver share for whose answer it waits. It outlives both: not in the frame, unless
// the coroutine never leaves.
//
// | phase    | means                                                              |
// |----------|--------------------------------------------------------------------|
// | starting | the coroutine is about to suspend; nobody else resumes it          |
// | waiting  | whoever answers posts it                                           |
// | answered | there is a result, or there never will be one                      |
// | left     | the coroutine is gone, or it goes on without the answer            |
class async_completion {
    using platform = standard_platform;
    static constexpr std::uint32_t starting = 0, waiting = 1, answered = 2, left = 3;

  public:
    async_completion(executor& ex, slot* measured, std::coroutine_handle<> waiter)
        : executor_(&ex), measured_(measured), waiter_(waiter), promised_(std::in_place) {}
    async_completion(const async_completion&) = delete;
    async_completion& operator=(const async_completion&) = delete;

    // The coroutine suspends; it is resumed on its executor, to which whoever answers posts it.
    // False if the answer is there already: the coroutine then goes on as it is. Else it may be running
    // elsewhere when this returns. acq_rel; pairs with answer()
    bool wait() noexcept {
        std::uint32_t expected = starting;
        return phase_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel);
    }

    // Once, by the driver. In the frame of a coroutine it is gone as soon as that has the answer.
    void answer() noexcept {
        const external_wait until_posted;
        promised_.reset();
        // acq_rel; pairs with wait() and with who left
        const std::uint32_t before = phase_.exchange(answered, std::memory_order_acq_rel);
        if (before == waiting) {
            if (measured_ != nullptr) ready_ = clock_of(*measured_);
            executor_->post(waiter_);
        } else if (before == left) {
            platform::wake_all(phase_);
        }
    }

    // The coroutine isn't resumed any more. release; pairs with answer()
    void leave() noexcept { phase_.store(left, std::memory_order_release); }

    // The same, and blocks until the answer is there. acq_rel; pairs with answer()
    void leave_and_wait() noexcept {
        if (phase_.exchange(left, std::memory_order_acq_rel) == answered) return;
        while (phase_.load(std::memory_order_acquire) == left) platform::wait(phase_, left);
    }

    bool is_waited_for() const noexcept {
        // acquire; pairs with answer()
        const std::uint32_t now = phase_.load(std::memory_order_acquire);
        return now == starting || now == waiting;
    }

    // When the answer came, on the clock of the slot.
    std::int64_t ready_at() const noexcept { return ready_; }

  private:
    platform::atomic<std::uint32_t> phase_{starting};
    executor* executor_;
    slot* measured_;
    std::coroutine_handle<> waiter_;
    std::int64_t ready_ = 0;
    std::optional<external_wait> promised_;
};

}  // namespace weir::detail

#endif
