// weir task, internal: starts the parts of a when_any, has the others stop, wakes the awaiter after the last
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ANY_JOIN_HPP
#define WEIR_TASK_WHEN_ANY_JOIN_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/foreign_executor.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <optional>   // for std::optional

namespace weir::detail {

// Starts the parts, has the others stop when the first has ended, and wakes the awaiting coroutine when all
// have.
class when_any_join {
  public:
    explicit when_any_join(std::size_t parts) noexcept : left_(parts + 1) {}
    when_any_join(const when_any_join&) = delete;
    when_any_join& operator=(const when_any_join&) = delete;

    // The awaiter is resumed on its executor, by the part that ends last. False: all have ended.
    // `start(ex, ends)` posts all of them.
    template <class Promise, class Start>
    bool start(std::coroutine_handle<Promise> awaiter, Start start_parts) {
        const coroutine_env env = detail::env_of(awaiter);
        executor& ex = detail::executor_of(env);
        awaiter_ = awaiter;
        executor_ = &ex;
        measured_ = env.measured;
        if (env.ends != nullptr) {
            ends_.work = env.ends->work;
            on_end_.emplace(*env.ends->stop, stop_parts{&stop_});
        }
        start_parts(ex, ends_);
        return !is_last();
    }

    void ended(std::size_t part) noexcept {
        // relaxed: read when all have ended, which is_last() orders
        if (!has_first_.exchange(true, std::memory_order_relaxed)) {
            first_ = part;
            stop_.request_stop();
        }
        if (measured_ != nullptr) ready_.store(clock_of(*measured_), std::memory_order_relaxed);
        if (is_last()) executor_->post(awaiter_);  // the join may be gone from here on
    }

    // After all have ended.
    std::size_t first() noexcept {
        on_end_.reset();  // waits for a callback that runs right now
        return first_;
    }
    std::int64_t ready_at() const noexcept { return ready_.load(std::memory_order_relaxed); }

  private:
    struct stop_parts {
        const stop_source* parts;
        void operator()() const noexcept { parts->request_stop(); }
    };

    // acq_rel; pairs with itself: who is the last sees all that the others did
    bool is_last() noexcept { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    template <class T>
    using atomic = standard_platform::atomic<T>;
    atomic<std::size_t> left_;  // parts, and who starts them
    atomic<bool> has_first_{false};
    std::size_t first_ = 0;
    const stop_source stop_;
    const stop_token token_{stop_.get_token()};
    end_token ends_{&token_};
    std::coroutine_handle<> awaiter_;
    executor* executor_ = nullptr;
    slot* measured_ = nullptr;
    atomic<std::int64_t> ready_{0};
    std::optional<stop_callback<stop_parts>> on_end_;
};

}  // namespace weir::detail

#endif
