// weir task: external_wait: an awaited event outside of the library; and the hand-over of its completion
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_EXTERNAL_WAIT_HPP
#define WEIR_TASK_EXTERNAL_WAIT_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/slot_accounting.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint32_t, std::uint64_t
#include <optional>   // for std::optional
#include <utility>    // for std::in_place

namespace weir {

/// While an object of this class exists, no `watchdog` reports a deadlock when everything waits. The object
/// stands for an event outside of the library: of a socket, a GPU stream, or a thread that will use a channel
/// later. Construct it before the code that completes the wait (the driver) learns of the wait; destroy it
/// after that code has posted the coroutine:
///
///     auto promised = std::make_shared<weir::external_wait>();
///     driver.on_completion([promised, &ex, h] { ex.post(h); });
///
/// For authors of awaitables that are resumed from outside. A wait for a channel, for a timer, or for a
/// function on a pool needs no such object.
///
/// Threads: any. Cost: an atomic addition in constructor and destructor.
class [[nodiscard("it says something only as long as it exists")]] external_wait {
    using counter = detail::standard_platform::atomic<std::uint64_t>;

  public:
    [[nodiscard("it says something only as long as it exists")]] external_wait() noexcept {
        begun_.fetch_add(1, std::memory_order_seq_cst);
    }
    external_wait(const external_wait&) = delete;
    external_wait& operator=(const external_wait&) = delete;
    ~external_wait() { ended_.fetch_add(1, std::memory_order_seq_cst); }

    /// \returns how many such objects were ever constructed.
    [[nodiscard]] static std::uint64_t num_begun() noexcept { return begun_.load(std::memory_order_seq_cst); }
    /// \returns how many such objects were destroyed. If a later call of `num_begun` returns the same number,
    ///          no such object existed between the two calls.
    [[nodiscard]] static std::uint64_t num_ended() noexcept { return ended_.load(std::memory_order_seq_cst); }

  private:
    inline static constinit counter begun_{0};
    inline static constinit counter ended_{0};
};

namespace detail {

// Shared by a coroutine that waits and by the driver (of a GPU, of Asio) that completes the wait. After
// leave(), the object has to exist until the driver's call of answer() has returned.
//
// | phase    | meaning                                                            |
// |----------|--------------------------------------------------------------------|
// | starting | the coroutine has not suspended; answer() will not post it         |
// | waiting  | the coroutine is suspended; answer() will post it                  |
// | answered | answer() was called: the operation is complete, or never will be   |
// | left     | the coroutine is gone, or continues without the answer             |
class async_completion {
    using platform = standard_platform;
    static constexpr std::uint32_t starting = 0, waiting = 1, answered = 2, left = 3;

  public:
    // `measured`: the slot (worker of a stage) whose function waits; null: none.
    async_completion(executor& ex, slot* measured, std::coroutine_handle<> waiter)
        : executor_(&ex), measured_(measured), waiter_(waiter), promised_(std::in_place) {}
    async_completion(const async_completion&) = delete;
    async_completion& operator=(const async_completion&) = delete;

    // Called when the coroutine is suspended. True: answer() posts the coroutine to its executor, which may
    // have resumed it when this returns. False: answer() was called before, and the coroutine continues.
    // acq_rel; pairs with answer(): the later call sees what the caller of the earlier one wrote
    bool wait() noexcept {
        std::uint32_t expected = starting;
        return phase_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel);
    }

    // Called once, by the driver: posts the coroutine if it is suspended; if it is about to suspend, wait()
    // will return false. The coroutine may destroy this object as soon as it continues.
    void answer() noexcept {
        const external_wait until_posted;
        promised_.reset();
        // acq_rel; pairs with wait(), is_waited_for() and leave_and_wait(), which see what the driver did
        // before; and with leave(), whose caller's writes are seen here
        const std::uint32_t before = phase_.exchange(answered, std::memory_order_acq_rel);
        if (before == waiting) {
            if (measured_ != nullptr) ready_ = clock_of(*measured_);
            executor_->post(waiter_);
        } else if (before == left) {
            platform::wake_all(phase_);
        }
    }

    // Called if the coroutine must not be resumed any more: a later answer() does not post it. release;
    // pairs with answer(), which sees what the caller did before
    void leave() noexcept { phase_.store(left, std::memory_order_release); }

    // The same as `leave`, and blocks until answer() was called. acq_rel; pairs with answer(): the caller
    // sees what the driver did before
    void leave_and_wait() noexcept {
        if (phase_.exchange(left, std::memory_order_acq_rel) == answered) return;
        while (phase_.load(std::memory_order_acquire) == left) platform::wait(phase_, left);
    }

    // False after answer() or leave(). For a driver that is asked to stop the operation.
    bool is_waited_for() const noexcept {
        // acquire; pairs with answer(): after an answer, the caller sees what the driver did before
        const std::uint32_t now = phase_.load(std::memory_order_acquire);
        return now == starting || now == waiting;
    }

    // When answer() was called, by the clock of `measured`; 0: `measured` is null, or wait() returned false.
    std::int64_t ready_at() const noexcept { return ready_; }

  private:
    platform::atomic<std::uint32_t> phase_{starting};  // see the table
    executor* executor_;
    slot* measured_;
    std::coroutine_handle<> waiter_;
    std::int64_t ready_ = 0;                 // see ready_at()
    std::optional<external_wait> promised_;  // exists until answer() is called
};

}  // namespace detail

}  // namespace weir

#endif
