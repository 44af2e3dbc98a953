// weir execution: an executor of weir that runs coroutines on a scheduler of another library
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_SCHEDULER_EXECUTOR_HPP
#define WEIR_EXECUTION_SCHEDULER_EXECUTOR_HPP

#include <weir/execution/scheduler.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <algorithm>    // for std::max
#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdio>       // for std::fputs
#include <cstdlib>      // for std::abort
#include <exception>    // for std::terminate
#include <memory>       // for std::make_shared, std::shared_ptr
#include <mutex>        // for std::mutex
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::exchange, std::move

namespace weir::execution::detail {

// The timers of an executor whose scheduler has no clock. A coroutine sleeps until the earliest timer is due,
// and then posts the due coroutines to the executor. It runs on the run loop that weir has for coroutines of
// other libraries. This object is shared with that coroutine, which may outlive the executor.
class alarm : public weir::detail::woken_timers<alarm> {
    using base = weir::detail::woken_timers<alarm>;
    friend base;

  public:
    explicit alarm(executor& ex) noexcept : base(ex) {}

    // Ends the sleep. Called by the executor's destructor, when no timer is left.
    void off() noexcept { replace({}).request_stop(); }

  private:
    // A coroutine that begins at once, and that no other coroutine awaits.
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

    // Sleeps until `when`, and then posts the due coroutines, unless `replaced` is stopped earlier.
    static sleeper ring(std::shared_ptr<alarm> me, time_point when, stop_token replaced) {
        const bool due = co_await sleep_until(when, std::move(replaced));
        if (due) me->fire();
    }

    // Called when the earliest timer has changed: ends the current sleep. If a timer is left, a new sleep
    // begins.
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
    stop_source current_;  // of the current sleep
};

}  // namespace weir::execution::detail

namespace weir::execution {

/// Runs coroutines, and so stages, on a scheduler of std::execution:
///
///     weir::execution::scheduler_executor on_theirs(context.get_scheduler(), 4);
///     weir::pipe(parse, {.executor = &on_theirs})
///
/// The clock is std::chrono::steady_clock. A thread of weir waits for the ends of sleeps, and then posts the
/// coroutines to the scheduler.
///
/// Threads:  any thread may post and add timers. A thread that blocks until a coroutine here has ended
///           doesn't run the scheduler's context: other threads have to run the context as long as
///           coroutines run here.
/// Lifetime: the context outlives the executor, and the executor outlives its coroutines.
/// Errors:   if the scheduler fails or stops before a posted coroutine has run, the program ends with a
///           message. `std::terminate` if there is no memory to post; and by a sleep, if the thread of weir
///           can't be started, or if it runs in the parent process, as the fork came after its start.
/// Watchdog: a `watchdog` assumes that a coroutine here can always continue, as a scheduler doesn't show its
///           work.
/// Cost:     one allocation for each post.
template <class Scheduler>
class scheduler_executor final : public executor {
    static_assert(lib::scheduler<Scheduler>,
                  "weir: scheduler_executor needs a scheduler of std::execution, what schedule(s) takes");

    // One post: waits on the scheduler, then resumes the coroutine. Deletes itself.
    class posting {
        class receiver {
          public:
            using receiver_concept = lib::receiver_t;
            explicit receiver(posting& of) noexcept : of_(&of) {}
            void set_value() noexcept {
                scheduler_executor& here = *of_->here_;
                const std::coroutine_handle<> h = of_->handle_;
                delete of_;
                here.resume(h);  // if `h` was the last coroutine, the executor may be destroyed now
            }
            template <class Error>
            void set_error(Error&&) noexcept {
                set_stopped();
            }
            void set_stopped() noexcept {
                std::fputs(
                    "weir: a scheduler has failed or stopped before it ran a coroutine that was posted to "
                    "it; its context has to outlive what runs there\n",
                    stderr);
                std::abort();
            }

          private:
            posting* of_;
        };

      public:
        posting(scheduler_executor& here, std::coroutine_handle<> h)
            : here_(&here), handle_(h),
              state_(lib::connect(lib::schedule(here.scheduler_), receiver(*this))) {}
        posting(const posting&) = delete;
        posting& operator=(const posting&) = delete;

        void start() noexcept { lib::start(state_); }

      private:
        ~posting() = default;

        scheduler_executor* here_;
        std::coroutine_handle<> handle_;
        lib::connect_result_t<lib::schedule_result_t<Scheduler&>, receiver> state_;
    };

  public:
    /// \param on       the scheduler that runs the coroutines.
    /// \param threads  the number of threads that run the scheduler's context; 0 counts as 1.
    /// Errors: `std::invalid_argument` for a negative number.
    explicit scheduler_executor(Scheduler on, std::size_t threads = 1)
        : executor({.parallelism = (std::max<std::size_t>)(threads, 1)}), scheduler_(std::move(on)),
          alarm_(std::make_shared<detail::alarm>(*this)) {
        weir::detail::refuse_negative(
            threads, "weir: a scheduler_executor was told a negative number of threads; tell it 0 or more");
    }
    ~scheduler_executor() override { alarm_->off(); }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { (new posting(*this, h))->start(); }
    void add(timer& t) noexcept override { alarm_->add(t); }
    void cancel(timer& t) noexcept override { alarm_->cancel(t); }
    bool drive(flag&, time_point) override { return false; }

  private:
    Scheduler scheduler_;
    std::shared_ptr<detail::alarm> alarm_;
};

}  // namespace weir::execution

#endif
