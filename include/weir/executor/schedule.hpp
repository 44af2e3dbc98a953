// weir executor: moves a coroutine from one executor to another
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_SCHEDULE_HPP
#define WEIR_EXECUTOR_SCHEDULE_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <type_traits>  // for std::is_convertible_v

namespace weir {

/// Moves the awaiting coroutine to an executor.
///
/// Suspends: always. Resumes: on `ex`; later waits also resume there. An exclusive executor, such as
///           `virtual_time`, doesn't give coroutines away: its coroutines stay there, unless `ex` is
///           exclusive, too.
/// Errors: `forked_error` where `ex` is a pool that was made before the process forked.
/// Lifetime: `ex` outlives the coroutine.
class [[nodiscard("co_await this, or the coroutine stays where it is")]] schedule {
  public:
    // Read by the accounts of a stage's slot (a worker): the slot is in state `runnable` during this await,
    // not in state `await`, as the coroutine waits for nothing but a thread.
    static constexpr bool ready_at_once = true;

    /// \param ex  the executor to move to.
    [[nodiscard("co_await this, or the coroutine stays where it is")]] explicit schedule(
        executor& ex) noexcept
        : executor_(&ex) {}
    /// Rejects arguments that are no executor, and temporary executors, at compile time.
    template <class Ex>
        requires(!std::is_convertible_v<Ex, executor&> && !std::same_as<std::remove_cvref_t<Ex>, schedule>)
    explicit schedule(Ex&&) noexcept : executor_(nullptr) {
        static_assert(std::is_convertible_v<Ex, executor&>,
                      "weir: schedule moves a coroutine to an executor that outlives it: a thread_pool, a "
                      "run_loop, virtual_time, or what derives from weir::executor, with a name");
    }

    [[nodiscard]] bool await_ready() const {
        detail::check_threads_of(executor_);
        return false;
    }

    // Resumes on `executor_`, to which this call posts the coroutine; or on the coroutine's current executor,
    // if that is exclusive and `executor_` is not.
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) const noexcept {
        executor* const here = detail::env_of(h).executor;
        const bool stays = here != nullptr && here->traits().exclusive && !executor_->traits().exclusive;
        executor* const there = stays ? here : executor_;
        if constexpr (detail::has_env<Promise>) h.promise().env().executor = there;
        there->post(h);
    }

    void await_resume() const noexcept {}

  private:
    executor* executor_;
};

}  // namespace weir

#endif
