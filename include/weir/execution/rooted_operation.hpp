// weir execution, internal: a sender whose operation runs a coroutine of ours
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_ROOTED_OPERATION_HPP
#define WEIR_EXECUTION_ROOTED_OPERATION_HPP

#include <weir/execution/library.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::suspend_never
#include <exception>    // for std::current_exception
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_same_v, std::is_void_v
#include <utility>      // for std::move

namespace weir::execution::detail {

// What only comes to an executor can't fail there.
template <class A>
inline constexpr bool only_arrives = std::is_same_v<A, std::suspend_never>;

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
using given_t = weir::detail::stored_result_t<await_result_t<A>>;

// `on`: null for the executor of the thread that starts it, or, where it has none, as of a stranger.
template <class A, class Receiver>
class rooted_operation final : weir::detail::detached_task_owner {
    using result = given_t<A>;
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

    // Errors: those of moving the two; `std::bad_alloc`.
    rooted_operation(A&& awaited, executor* on, Receiver&& receiver)
        : receiver_(std::move(receiver)), awaited_(std::move(awaited)), on_(on), token_(stop_.get_token()),
          root_(weir::detail::make_detached_task<result, A>(awaited_)) {}
    rooted_operation(const rooted_operation&) = delete;
    rooted_operation& operator=(const rooted_operation&) = delete;
    ~rooted_operation() = default;

    void start() noexcept {
        try {
            weir::detail::coroutine_env here;
            here.executor = on_ != nullptr ? on_ : weir::detail::current_executor();
            executor& ex = weir::detail::executor_of(here);
            weir::detail::check_threads_of(ex);
            if constexpr (!only_arrives<A>) {
                on_stop_.emplace(lib::get_stop_token(lib::get_env(receiver_)), request(stop_));
            }
            root_.start(ex, nullptr, *this, &ends_);
        } catch (...) {
            fail();
        }
    }

  private:
    // Of a pool that was made before this process was forked nothing runs, and who can't be told so is left.
    void fail() noexcept {
        if constexpr (!only_arrives<A>) lib::set_error(std::move(receiver_), std::current_exception());
    }

    // The receiver may destroy this, and the coroutine that calls it.
    void ended() noexcept override {
        on_stop_.reset();  // waits for a request that is being made right now
        if constexpr (only_arrives<A>) {
            lib::set_value(std::move(receiver_));
        } else if (!root_.has_exception()) {
            succeed();
        } else if (was_stopped()) {
            lib::set_stopped(std::move(receiver_));
        } else {
            lib::set_error(std::move(receiver_), root_.exception());
        }
    }

    void succeed() noexcept {
        if constexpr (std::is_void_v<result>) {
            lib::set_value(std::move(receiver_));
        } else {
            std::optional<result> value;
            try {
                value.emplace(root_.take());
            } catch (...) {
                return fail();
            }
            lib::set_value(std::move(receiver_), *std::move(value));
        }
    }

    bool was_stopped() const noexcept {
        try {
            std::rethrow_exception(root_.exception());
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
    const weir::detail::end_token ends_{&token_};
    weir::detail::detached_task<result> root_;
    std::optional<lib::stop_callback_for_t<token, request>> on_stop_;
};

}  // namespace weir::execution::detail

#endif
