// weir execution, internal: the timers of an executor on something that knows no time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_ALARM_HPP
#define WEIR_EXECUTION_ALARM_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::suspend_never
#include <exception>  // for std::terminate
#include <memory>     // for std::shared_ptr
#include <mutex>      // for std::mutex
#include <utility>    // for std::exchange

namespace weir::execution::detail {

// A coroutine sleeps for the earliest of them, on the loop that the library has for strangers, and posts to
// the executor those that are due. Shared with that coroutine, which may outlive the executor.
class alarm : public weir::detail::woken_timers<alarm> {
    using base = weir::detail::woken_timers<alarm>;
    friend base;

  public:
    explicit alarm(executor& ex) noexcept : base(ex) {}

    // Nothing is queued any more.
    void off() noexcept { replace({}).request_stop(); }

  private:
    // A coroutine of nobody's.
    class sleeper {
      public:
        class promise_type {
          public:
            sleeper get_return_object() const noexcept { return {}; }
            std::suspend_never initial_suspend() const noexcept { return {}; }
            std::suspend_never final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
            executor& weir_executor() const { return loop(); }
        };
    };

    static executor& loop() { return weir::detail::foreign_run_loop::get(); }

    static sleeper ring(std::shared_ptr<alarm> me, time_point when, stop_token replaced) {
        const bool due = co_await sleep_until(when, std::move(replaced));
        if (due) me->fire();
    }

    // The earliest one has changed.
    void set() noexcept {
        const stop_source mine;
        replace(mine).request_stop();
        if (!is_empty()) ring(shared_from_this(), next(), mine.get_token());
    }
    stop_source replace(const stop_source& by) noexcept {
        const std::lock_guard guard(lock_);
        return std::exchange(current_, by);
    }

    void fire() {
        fire_due();
        if (!is_empty()) set();
    }
    static time_point now() { return loop().now(); }

    std::mutex lock_;
    stop_source current_;  // of who sleeps
};

}  // namespace weir::execution::detail

#endif
