// weir execution: an executor on a scheduler of another library
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_SCHEDULER_EXECUTOR_HPP
#define WEIR_EXECUTION_SCHEDULER_EXECUTOR_HPP

#include <weir/execution/alarm.hpp>
#include <weir/execution/library.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <algorithm>    // for std::max
#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdio>       // for std::fputs
#include <cstdlib>      // for std::abort
#include <memory>       // for std::make_shared
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::move

namespace weir::execution {

/// Runs coroutines, and so stages, on a scheduler of std::execution:
///
///     weir::execution::scheduler_executor on_theirs(context.get_scheduler(), 4);
///     weir::pipe(parse, {.executor = &on_theirs})
///
/// Time is the system's: sleeps wait on a thread of the library's own, and come back by the scheduler.
///
/// Threads:  any may post and add timers. Who waits for what runs here sleeps: somebody else has to run the
///           scheduler's context, and has to go on until nothing runs here.
/// Lifetime: the context outlives it, and it outlives what runs on it.
/// Errors:   a scheduler that fails, or stops, before what was posted has run ends the program, with a
///           sentence; no memory to post: std::terminate.
/// Watchdog: takes it for one that may always go on.
/// Cost:     one allocation a post.
template <class Scheduler>
class scheduler_executor final : public executor {
    static_assert(lib::scheduler<Scheduler>,
                  "weir: scheduler_executor needs a scheduler of std::execution, what schedule(s) takes");

    class posting {
        class receiver {
          public:
            using receiver_concept = lib::receiver_t;
            explicit receiver(posting& of) noexcept : of_(&of) {}
            void set_value() noexcept {
                scheduler_executor& here = *of_->here_;
                const std::coroutine_handle<> h = of_->handle_;
                delete of_;
                here.resume(h);  // if that was the last one, the executor may be gone now
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
    /// \param on       where coroutines run.
    /// \param threads  how many run it.
    explicit scheduler_executor(Scheduler on, std::size_t threads = 1)
        : executor({.parallelism = (std::max<std::size_t>)(threads, 1)}), scheduler_(std::move(on)),
          alarm_(std::make_shared<detail::alarm>(*this)) {}
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
