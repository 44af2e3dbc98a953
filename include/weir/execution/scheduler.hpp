// weir execution: std::execution by the name `lib`, and a scheduler that runs work on an executor of weir
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_SCHEDULER_HPP
#define WEIR_EXECUTION_SCHEDULER_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <stdexec/execution.hpp>

#include <coroutine>    // for std::suspend_never
#include <exception>    // for std::current_exception
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_convertible_v, std::is_same_v, std::is_void_v
#include <utility>      // for std::move

namespace weir::execution {

/// `stdexec`, the reference implementation of std::execution (P2300). Standard libraries don't have it yet.
namespace lib = ::stdexec;

namespace detail {

// Whether A is the awaitable of `schedule()`, which awaits std::suspend_never on the executor. `schedule()`
// reports neither an error nor a stop. If the start fails, as after a fork, `schedule()` never completes.
template <class A>
inline constexpr bool is_schedule = std::is_same_v<A, std::suspend_never>;

template <class A, class T>
struct signatures {
    using type = lib::completion_signatures<lib::set_value_t(T), lib::set_error_t(std::exception_ptr),
                                            lib::set_stopped_t()>;
};
template <class A>
struct signatures<A, void> {
    using type = lib::completion_signatures<lib::set_value_t(), lib::set_error_t(std::exception_ptr),
                                            lib::set_stopped_t()>;
};
template <>
struct signatures<std::suspend_never, void> {
    using type = lib::completion_signatures<lib::set_value_t()>;
};

template <class A>
using result_of_t = weir::detail::stored_result_t<await_result_t<A>>;

// The operation state of the senders of weir: `start` runs a coroutine that awaits A on an executor, and
// completes the receiver with the result.
//
// `on`: the executor; null: the executor of the thread that calls `start`, or, if the thread belongs to none,
// the run loop that weir has for coroutines of other libraries.
template <class A, class Receiver>
class coroutine_operation final : weir::detail::detached_task_owner {
    using result = result_of_t<A>;
    using token = lib::stop_token_of_t<lib::env_of_t<Receiver>>;

    class request {
      public:
        explicit request(const stop_source& of) noexcept : of_(&of) {}
        void operator()() const noexcept { of_->request_stop(); }

      private:
        const stop_source* of_;
    };

  public:
    using operation_state_concept = lib::operation_state_t;

    // Errors: those of the moves of `awaited` and `receiver`; `std::bad_alloc`.
    coroutine_operation(A&& awaited, executor* on, Receiver&& receiver)
        : receiver_(std::move(receiver)), awaited_(std::move(awaited)), on_(on), token_(stop_.get_token()),
          task_(weir::detail::make_detached_task<result, A>(awaited_)) {}
    coroutine_operation(const coroutine_operation&) = delete;
    coroutine_operation& operator=(const coroutine_operation&) = delete;
    ~coroutine_operation() = default;

    void start() noexcept {
        try {
            weir::detail::coroutine_env here;
            here.executor = on_ != nullptr ? on_ : weir::detail::current_executor();
            executor& ex = weir::detail::executor_of(here);
            weir::detail::check_threads_of(ex);
            if constexpr (!is_schedule<A>) {
                on_stop_.emplace(lib::get_stop_token(lib::get_env(receiver_)), request(stop_));
            }
            task_.start(ex, nullptr, *this, &ends_);
        } catch (...) {
            fail();
        }
    }

  private:
    // Completes with the current exception. The receiver of `schedule()` has no error channel: if `start`
    // fails, as on a pool of the parent process after a fork, this receiver is never completed.
    void fail() noexcept {
        if constexpr (!is_schedule<A>) lib::set_error(std::move(receiver_), std::current_exception());
    }

    // Completes the receiver. Called by the coroutine at its end. The receiver may destroy this operation,
    // and so the calling coroutine.
    void ended() noexcept override {
        on_stop_.reset();  // if another thread calls `request` now, waits until the call returns
        if constexpr (is_schedule<A>) {
            lib::set_value(std::move(receiver_));
        } else if (!task_.has_exception()) {
            succeed();
        } else if (was_stopped()) {
            lib::set_stopped(std::move(receiver_));
        } else {
            lib::set_error(std::move(receiver_), task_.exception());
        }
    }

    void succeed() noexcept {
        if constexpr (std::is_void_v<result>) {
            lib::set_value(std::move(receiver_));
        } else {
            std::optional<result> value;
            try {
                value.emplace(task_.take());
            } catch (...) {
                return fail();
            }
            lib::set_value(std::move(receiver_), *std::move(value));
        }
    }

    bool was_stopped() const noexcept {
        try {
            std::rethrow_exception(task_.exception());
        } catch (const stopped&) {
            return true;
        } catch (...) {
            return false;
        }
    }

    Receiver receiver_;
    A awaited_;
    executor* on_;
    stop_source stop_;
    const stop_token token_;
    const weir::detail::end_token ends_{&token_};  // ends the waits of `task_` when `stop_` is requested
    weir::detail::detached_task<result> task_;
    std::optional<lib::stop_callback_for_t<token, request>> on_stop_;  // for a stop of the receiver's token
};

class schedule_sender;

}  // namespace detail

/// A scheduler for an executor of weir: a pool, an event loop, virtual time.
///
/// Lifetime: the executor outlives the operations that are started on the scheduler.
class scheduler {
  public:
    using scheduler_concept = lib::scheduler_t;

    /// The scheduler of the executor `on`.
    explicit scheduler(executor& on) noexcept : on_(&on) {}

    /// \returns a sender that completes on the executor, without a value, and never with an error or as
    ///          stopped. On a pool of the parent process, after a fork, the sender never completes.
    /// Lifetime: the executor outlives the sender, and the operations that are started from the sender.
    /// Cost: one allocation when the sender is connected; one post.
    [[nodiscard]] detail::schedule_sender schedule() const noexcept;

    /// Whether both have the same executor.
    [[nodiscard]] friend bool operator==(const scheduler&, const scheduler&) noexcept = default;

  private:
    executor* on_;
};

namespace detail {

class [[nodiscard("connect and start this, or nothing of it runs")]] schedule_sender {
    // The sender's environment, which tells the scheduler on which the sender completes.
    class attributes {
      public:
        explicit attributes(executor& on) noexcept : on_(&on) {}
        template <class... Env>
        [[nodiscard]] scheduler query(lib::get_completion_scheduler_t<lib::set_value_t>,
                                      const Env&...) const noexcept {
            return scheduler(*on_);
        }

      private:
        executor* on_;
    };

  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = typename signatures<std::suspend_never, void>::type;

    explicit schedule_sender(executor& on) noexcept : on_(&on) {}

    template <class Receiver>
    [[nodiscard]] auto connect(Receiver receiver) const {
        return coroutine_operation<std::suspend_never, Receiver>(std::suspend_never(), on_,
                                                                 std::move(receiver));
    }
    [[nodiscard]] attributes get_env() const noexcept { return attributes(*on_); }

  private:
    executor* on_;
};

}  // namespace detail

inline detail::schedule_sender scheduler::schedule() const noexcept { return detail::schedule_sender(*on_); }

/// \returns the scheduler of an executor. Lifetime: the executor outlives the operations that are started on
///          the scheduler.
[[nodiscard]] inline scheduler get_scheduler(executor& on) noexcept { return scheduler(on); }
/// Rejects at compile time an argument that is no executor, and a temporary executor.
template <class Ex>
    requires(!std::is_convertible_v<Ex, executor&>)
auto get_scheduler(Ex&&) {
    static_assert(std::is_convertible_v<Ex, executor&>,
                  "weir: get_scheduler needs an executor that outlives what is started there: a thread_pool, "
                  "or what derives from weir::executor, with a name");
}

}  // namespace weir::execution

#endif
