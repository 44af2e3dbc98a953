// weir task, internal: awaits by `as_awaitable`, and brings the coroutine back to its executor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FOREIGN_AWAITABLE_ADAPTER_HPP
#define WEIR_TASK_FOREIGN_AWAITABLE_ADAPTER_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/result.hpp>
#include <weir/task/frame_pool.hpp>

#include <coroutine>     // for std::coroutine_handle
#include <exception>     // for std::current_exception
#include <system_error>  // for std::system_error
#include <type_traits>   // for std::is_void_v
#include <utility>       // for std::exchange, std::forward

namespace weir::detail {

// What a coroutine gets for what ended as stopped.
inline std::system_error no_result() {
    return {std::make_error_code(std::errc::operation_canceled),
            "weir: what a coroutine awaits was stopped, and gives it no result"};
}

// The coroutine between one of ours and something of another library: that may resume it on any thread,
// also inside of the call that begins it. Ours is posted to its executor then, once.
class foreign_awaitable_adapter {
  public:
    class promise_type : public pooled_frame {
      public:
        foreign_awaitable_adapter get_return_object() noexcept {
            return foreign_awaitable_adapter(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        coroutine_env& env() noexcept { return env_; }
        std::suspend_always initial_suspend() const noexcept { return {}; }

        class arrival {
          public:
            bool await_ready() const noexcept { return false; }
            // Never resumed. The coroutine that waits is, by a post to its executor.
            void await_suspend(std::coroutine_handle<promise_type> h) const noexcept { h.promise().arrive(); }
            void await_resume() const noexcept {}
        };
        arrival final_suspend() const noexcept { return {}; }

        void return_void() const noexcept {}
        void unhandled_exception() noexcept { error_ = std::current_exception(); }

        // What a sender calls that ends without a value and without an error. The coroutine stays where it
        // is until it is destroyed.
        std::coroutine_handle<> unhandled_stopped() noexcept {
            error_ = std::make_exception_ptr(no_result());
            arrive();
            return std::noop_coroutine();
        }

        template <class A>
        decltype(auto) await_transform(A&& a) {
            return std::forward<A>(a).as_awaitable(*this);
        }

      private:
        friend foreign_awaitable_adapter;
        // The frame may be gone when it returns.
        void arrive() noexcept { env_.executor->post(awaiter_); }

        coroutine_env env_;
        std::coroutine_handle<> awaiter_;
        std::exception_ptr error_;
    };

    foreign_awaitable_adapter() noexcept = default;
    foreign_awaitable_adapter(foreign_awaitable_adapter&& other) noexcept
        : handle_(std::exchange(other.handle_, {})) {}
    foreign_awaitable_adapter& operator=(foreign_awaitable_adapter&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~foreign_awaitable_adapter() {
        if (handle_) handle_.destroy();
    }

    // It is then to be resumed, on `ex`; posts `awaiter` there at the end.
    std::coroutine_handle<> prepare(executor& ex, std::coroutine_handle<> awaiter) noexcept {
        handle_.promise().env_.executor = &ex;
        handle_.promise().awaiter_ = awaiter;
        return handle_;
    }
    void rethrow() const {
        if (handle_.promise().error_) std::rethrow_exception(handle_.promise().error_);
    }

  private:
    using handle = std::coroutine_handle<promise_type>;
    explicit foreign_awaitable_adapter(handle h) noexcept : handle_(h) {}

    handle handle_;
};

// What the senders of std::execution have, for the promises of coroutines.
template <class A>
concept has_as_awaitable =
    requires(A&& a, foreign_awaitable_adapter::promise_type& p) { std::forward<A>(a).as_awaitable(p); };

template <class A>
using made_awaitable_t =
    decltype(std::declval<A>().as_awaitable(std::declval<foreign_awaitable_adapter::promise_type&>()));

template <class T, class A>
foreign_awaitable_adapter cross(A& a, result<T>& to) {
    if constexpr (std::is_void_v<T>) {
        co_await static_cast<A&&>(a);
        to.set_value();
    } else {
        to.set_value(co_await static_cast<A&&>(a));
    }
}

// The awaiter of such a thing. `T`: what awaiting it gives.
template <class T, class A>
class [[nodiscard("co_await this, or nothing happens")]] crossing {
  public:
    explicit crossing(A&& a) noexcept : awaited_(std::forward<A>(a)) {}
    crossing(const crossing&) = delete;
    crossing& operator=(const crossing&) = delete;

    bool await_ready() const noexcept { return false; }
    // Resumes on the coroutine's executor, whoever completes it, and wherever.
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
        executor& ex = detail::executor_of(detail::env_of(h));
        adapter_ = detail::cross<T, A>(awaited_, result_);
        return adapter_.prepare(ex, h);
    }
    T await_resume() {
        adapter_.rethrow();
        return result_.take();
    }

  private:
    A&& awaited_;
    result<T> result_;
    foreign_awaitable_adapter adapter_;
};

}  // namespace weir::detail

#endif
