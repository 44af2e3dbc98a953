// weir stages: the time limit of a task, and the guard that calls hooks before and after a task
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TIME_LIMIT_HPP
#define WEIR_STAGES_TIME_LIMIT_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/invocation.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir {

/// A task took longer than the `time_limit` of its stage. If the function threw, that exception is nested,
/// unless it is `stopped`.
class time_limit_exceeded : public std::runtime_error {
  public:
    /// \param limit  the time limit of the stage.
    explicit time_limit_exceeded(duration limit);

    [[nodiscard]] duration limit() const noexcept { return limit_; }  ///< the time limit of the stage

  private:
    duration limit_;
};

namespace detail {

// The time limit of one task. Requests a stop of the task when its time is over, or when the run ends. `env`:
// the environment of the worker, the coroutine that calls the stage's function. While the timer exists, this
// stop also ends the waits of the function's coroutines, such as `sleep_for`: see `coroutine_env::ends`.
class task_timer {
  public:
    task_timer(coroutine_env& env, duration limit, stop_token run_ends);
    task_timer(const task_timer&) = delete;
    task_timer& operator=(const task_timer&) = delete;
    ~task_timer();

    const stop_token& token() const noexcept { return token_; }

    // Stops the timer at the end of the task. Awaitable of void. Resumes on the coroutine's executor.
    auto off() noexcept {
        was_late_ = executor_.now() > deadline_;
        return delayed_.cancel();
    }
    // Called after `off`. Returns true if the task took too long. The task then fails: `error` is set.
    bool fail_if_late(std::exception_ptr& error) const noexcept;

  private:
    struct forward_stop {
        const stop_source* stop;
        void operator()() const noexcept { stop->request_stop(); }
    };
    struct expire {
        task_timer* timer;
        void operator()() const noexcept {
            timer->expired_ = true;  // no atomic: read only after `off`
            timer->stop_.request_stop();
        }
    };

    coroutine_env& env_;
    const end_token* const outer_;
    executor& executor_;
    const duration limit_;
    const time_point deadline_;
    bool was_late_ = false;
    bool expired_ = false;
    const stop_source stop_;
    const stop_token token_{stop_.get_token()};
    const end_token end_token_{&token_, detail::work_of(outer_)};
    stop_callback<forward_stop> on_end_;
    delayed_action<expire> delayed_;
};

// Begins and ends one task: calls the hooks, and starts the timer. Constructed only if needed: most stages
// have neither hooks nor a time limit nor a function that takes the `invocation`.
class invocation_guard {
  public:
    // Begins the task. Sets `error` if that fails: a hook threw, or there is no memory for the timer.
    invocation_guard(const std::vector<shared_hook>& hooks, const stop_token& run_ends,
                     const std::string& stage, std::uint64_t item, std::uint64_t epoch, std::size_t slot,
                     const any_item& input, duration time_limit, coroutine_env& env,
                     std::exception_ptr& error) noexcept;
    invocation_guard(const invocation_guard&) = delete;
    invocation_guard& operator=(const invocation_guard&) = delete;
    ~invocation_guard();

    const invocation& call() const noexcept { return call_; }
    // The timer of the time limit, or null. The worker awaits its `off()` after the function has ended.
    task_timer* timer() noexcept { return timer_ ? &*timer_ : nullptr; }

    // Ends the task: calls `after` of each hook whose `before` has returned, in reverse order. The first
    // exception from a hook becomes `error` if `error` is null.
    void end(const any_item& output, std::exception_ptr& error) noexcept;

  private:
    const std::vector<shared_hook>& hooks_;
    invocation call_;
    std::optional<task_timer> timer_;
    std::size_t entered_ = 0;  // hooks whose `before` has returned
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/time_limit.ipp>
#endif

#endif
