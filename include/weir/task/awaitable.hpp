// weir task: the concept of an awaitable, the type of its result, and adapters for senders of other libraries
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_AWAITABLE_HPP
#define WEIR_TASK_AWAITABLE_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/frame_pool.hpp>

#include <concepts>      // for std::convertible_to
#include <coroutine>     // for std::coroutine_handle
#include <exception>     // for std::current_exception
#include <system_error>  // for std::system_error
#include <type_traits>   // for std::is_copy_constructible_v
#include <utility>       // for std::exchange, std::forward

namespace weir {

/// Has the functions that `co_await` calls. `await_suspend` is not checked: it may be a template whose
/// constraints only one promise type meets.
template <class A>
concept awaiter = requires(A& a) {
    { a.await_ready() } -> std::convertible_to<bool>;
    a.await_resume();
};

template <class T>
class task;

namespace detail {

// Thrown into a coroutine by the await of a sender that completed as stopped.
inline std::system_error sender_stopped_error() {
    return {std::make_error_code(std::errc::operation_canceled),
            "weir: what a coroutine awaits was stopped, and gives it no result"};
}

// A coroutine that awaits an object with a member `as_awaitable` on behalf of a coroutine of this library.
// The awaiter that `as_awaitable` returns may resume the adapter on any thread, also inside `await_suspend`.
// When the adapter ends, it posts the coroutine of this library to that coroutine's executor.
class foreign_awaitable_adapter {
  public:
    class promise_type : public pooled_frame {
      public:
        foreign_awaitable_adapter get_return_object() noexcept {
            return foreign_awaitable_adapter(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        coroutine_env& env() noexcept { return env_; }
        std::suspend_always initial_suspend() const noexcept { return {}; }

        class final_awaiter {
          public:
            bool await_ready() const noexcept { return false; }
            // Posts the waiting coroutine, which destroys the adapter. The adapter is never resumed
            // afterwards.
            void await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
                h.promise().post_awaiter();
            }
            void await_resume() const noexcept {}
        };
        final_awaiter final_suspend() const noexcept { return {}; }

        void return_void() const noexcept {}
        void unhandled_exception() noexcept { error_ = std::current_exception(); }

        // Called by a sender that completes as stopped: the waiting coroutine gets an exception. The adapter
        // stays suspended until it is destroyed.
        std::coroutine_handle<> unhandled_stopped() noexcept {
            error_ = std::make_exception_ptr(sender_stopped_error());
            post_awaiter();
            return std::noop_coroutine();
        }

        template <class A>
        decltype(auto) await_transform(A&& a) {
            return std::forward<A>(a).as_awaitable(*this);
        }

      private:
        friend foreign_awaitable_adapter;
        // The frame of the adapter may be gone when this returns.
        void post_awaiter() noexcept { env_.executor->post(awaiter_); }

        coroutine_env env_;
        std::coroutine_handle<> awaiter_;  // the coroutine of this library
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

    // Returns the adapter's coroutine, for the caller to resume. At its end the adapter posts `awaiter` to
    // `ex`.
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

// The customisation point of std::execution: senders with a member `as_awaitable(promise)`.
template <class A>
concept has_as_awaitable =
    requires(A&& a, foreign_awaitable_adapter::promise_type& p) { std::forward<A>(a).as_awaitable(p); };

template <class A>
using as_awaitable_t =
    decltype(std::declval<A>().as_awaitable(std::declval<foreign_awaitable_adapter::promise_type&>()));

template <class T, class A>
foreign_awaitable_adapter adapt_awaitable(A& a, result<T>& to) {
    if constexpr (std::is_void_v<T>) {
        co_await static_cast<A&&>(a);
        to.set_value();
    } else {
        to.set_value(co_await static_cast<A&&>(a));
    }
}

// The awaiter for an A with a member `as_awaitable`. `T`: the type of the result.
template <class T, class A>
class [[nodiscard("co_await this, or nothing happens")]] adapted_awaiter {
  public:
    explicit adapted_awaiter(A&& a) noexcept : awaited_(std::forward<A>(a)) {}
    adapted_awaiter(const adapted_awaiter&) = delete;
    adapted_awaiter& operator=(const adapted_awaiter&) = delete;

    bool await_ready() const noexcept { return false; }
    // Resumes on the coroutine's executor, by a post, whichever thread completes the awaited operation.
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
        executor& ex = detail::executor_of(detail::env_of(h));
        adapter_ = detail::adapt_awaitable<T, A>(awaited_, result_);
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

template <class A>
concept has_member_co_await = requires(A&& a) { std::forward<A>(a).operator co_await(); };

template <class A>
concept has_free_co_await = requires(A&& a) { operator co_await(std::forward<A>(a)); };

// Specialised for awaitables of another library that coroutines of this library can't await otherwise:
// `get_awaiter(a)` returns the awaiter, and has precedence over all other ways.
template <class A>
struct awaited_by_adapter {};

template <class A>
concept has_adapter =
    requires(A&& a) { awaited_by_adapter<std::remove_cvref_t<A>>::get_awaiter(std::forward<A>(a)); };

// Whether A is an operation that takes or gives away an item, such as `channel.get()`: its result must not be
// dropped. `when_any`, which could lose the item, rejects the operation.
template <class A>
inline constexpr bool moves_item = requires { typename A::moves_item; };

// The type for a result that is kept longer than its awaiter: an rvalue reference, which often refers to a
// part of the awaiter, becomes a value.
template <class T>
using stored_result_t = std::conditional_t<std::is_rvalue_reference_v<T>, std::remove_cvref_t<T>, T>;

// Returns the object on which `co_await a` calls `await_ready` and so on: a new one, or `a` itself.
template <class A>
decltype(auto) get_awaiter(A&& a) {
    if constexpr (has_adapter<A>) {
        return awaited_by_adapter<std::remove_cvref_t<A>>::get_awaiter(std::forward<A>(a));
    } else if constexpr (has_as_awaitable<A>) {
        using result_type = decltype(detail::get_awaiter(std::declval<as_awaitable_t<A>>()).await_resume());
        return adapted_awaiter<stored_result_t<result_type>, A>(std::forward<A>(a));
    } else if constexpr (has_member_co_await<A>) {
        return std::forward<A>(a).operator co_await();
    } else if constexpr (has_free_co_await<A>) {
        return operator co_await(std::forward<A>(a));
    } else {
        return std::forward<A>(a);
    }
}

// Returned by `begin` and `end` of classes that only a coroutine can iterate. The type has the operators that
// a range-for loop needs, so that compilers show the static_assert in `begin` first; it is no iterator, so
// that no concept takes the class for a range.
template <class T>
class not_an_iterator {
  public:
    std::conditional_t<std::is_copy_constructible_v<T>, T&, T&&> operator*() const;
    void operator++() const;
    bool operator!=(not_an_iterator) const;
};

}  // namespace detail

/// Can be the operand of `co_await` in any coroutine whose promise doesn't forbid that.
///
/// In coroutines of this library, also an object with a member `as_awaitable(promise)`, as senders of
/// `std::execution` have: the member has precedence over the other ways. Whichever thread completes the
/// sender, the coroutine is resumed once, on its own executor. A sender that completes as stopped makes the
/// await throw `std::system_error` with `std::errc::operation_canceled`.
///
/// An awaiter of another library resumes the coroutine on a thread of the awaiter's choice, for example that
/// of an event loop. The coroutine runs there until it suspends in a wait of this library, such as `co_await
/// weir::yield()`. After that wait it resumes on its own executor. If a `task`, an `async_generator`, a
/// `when_all` or a pipeline's function ends on such a thread, the awaiting coroutine resumes on its own
/// executor. Exception: if that thread belongs to another `executor`, the awaiting coroutine may continue
/// there until such a wait.
///
/// A coroutine of another library may await all awaitables of this library. After a wait it is resumed on the
/// executor that its promise names, or else on the executor whose coroutine the thread ran at the await, or
/// else on a thread of this library: see Resumes of `channel`.
template <class A>
concept awaitable = detail::has_adapter<A> || detail::has_as_awaitable<A> || detail::has_member_co_await<A> ||
                    detail::has_free_co_await<A> || awaiter<A>;

/// The type of `co_await std::declval<A>()`.
template <awaitable A>
using await_result_t = decltype(detail::get_awaiter(std::declval<A>()).await_resume());

namespace detail {

template <class A>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// The type of the result of an awaitable that `when_all`, `when_any` or `sync_wait` awaits: a value for an
// rvalue reference, as its object may end with the await; for a task, the type of its result.
template <class A>
using joined_result_t = std::conditional_t<is_task<A>, await_result_t<A>, stored_result_t<await_result_t<A>>>;

}  // namespace detail

}  // namespace weir

#endif
