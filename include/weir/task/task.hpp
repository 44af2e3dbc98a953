// weir task: task: a lazy coroutine with one result
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_HPP
#define WEIR_TASK_TASK_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/task_promise.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <exception>    // for std::exception_ptr
#include <stdexcept>    // for std::logic_error
#include <type_traits>  // for std::is_same_v
#include <utility>      // for std::exchange

namespace weir {

namespace detail {
template <class T>
class joined_task_ref;

[[noreturn]] WEIR_NOINLINE inline void refuse_task() {
    throw std::logic_error(
        "weir: nothing is left to await: this task, when_all or when_any was awaited before, or this task "
        "was moved from, or made without a coroutine. It gives its result once; keep that in a variable");
}
}  // namespace detail

/// A lazy coroutine with one result. A call of a function that returns a task puts the arguments into a new
/// coroutine, and returns before the body begins. `co_await` runs the body and gives the result.
///
///     weir::task<int> twice(int x) { co_return 2 * x; }
///
///     weir::task<> print_sum() {
///         weir::task<int> first = twice(20);  // holds the 20; the body has not begun
///         use(co_await std::move(first) + co_await twice(1));
///     }
///
/// The body has a `co_await` or a `co_return`, and no `co_yield`. A task can be moved, but not copied.
///
/// Suspends: the awaiting coroutine, until the task has ended.
/// Resumes:  at once if the task ended on a thread of an executor, usually the awaiter's, and has not moved
///           to another executor by `co_await schedule(other)`; else by a post to the awaiter's executor, as
///           when an awaitable of another library resumed the task on a thread of its own.
/// Errors:   an exception of the body is rethrown by the `co_await`. `std::logic_error` for a task that was
///           awaited before or is empty: moved from, or made without a coroutine.
/// Lifetime: the object owns the coroutine, and is awaited at most once. Destroying a task that was not
///           awaited destroys the arguments and runs nothing. Objects to which parameters refer outlive the
///           task, and so does a lambda with captures whose body is the coroutine.
/// Cost:     one allocation for the frame; two control transfers. The stack stays flat, at any optimisation
///           level, however many tasks end without waiting, and however many tasks that await each other are
///           destroyed (the innermost first). Only the destruction of a task's task argument takes stack.
/// Source:   symmetric transfer, Lewis Baker, "Understanding symmetric transfer" (2020).
template <class T = void>
class [[nodiscard("co_await this task, or nothing of it runs")]] task {
  public:
    using promise_type = detail::task_promise<T>;
    using value_type = T;

    /// An empty task, to be assigned to.
    task() noexcept = default;
    ~task() {
        if (handle_) promise_type::destroy(handle_);
    }

    // `in_register`: otherwise a move directly after the task was made takes 4 ns more (config.hpp).
    task(task&& other) noexcept
        : handle_(handle::from_address(detail::in_register(other.handle_.address()))) {
        other.handle_ = {};
    }
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            if (handle_) promise_type::destroy(handle_);
            handle_ = std::exchange(other.handle_, {});
        }
        return *this;
    }

    /// Only an rvalue can be awaited, as a task gives its result once.
    auto operator co_await() && noexcept { return awaiter(*this); }

    /// Rejects a condition without `co_await` at compile time.
    template <class Result = T>
    explicit operator bool() const noexcept {
        static_assert(!std::is_same_v<Result, T>,
                      "weir: a task that has not been awaited is neither true nor false: "
                      "const bool done = co_await f()");
        return false;
    }

  private:
    friend promise_type;
    friend class detail::joined_task_ref<T>;
    using handle = std::coroutine_handle<promise_type>;

    explicit task(handle h) noexcept : handle_(h) {}

    static void check_valid(handle h) {  // throws if nothing is left to await
        if (!h || h.promise().was_awaited()) [[unlikely]]
            detail::refuse_task();
    }

    class awaiter {
      public:
        explicit awaiter(task& t) noexcept : handle_(t.handle_), owner_(&t.handle_) {}
        // Never ready: the body has not begun.
        bool await_ready() const {
            task::check_valid(handle_);
            return false;
        }
        // Starts the body. Symmetric transfer is no tail call on some compilers: `trampoline` then bounds the
        // stack. Resumes `h` when the task has ended: see `task`. (At once on threads of any executor: the
        // tasks of an executor that forwards to another run on threads of that one, and a post for each task
        // would be slow.)
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
            handle_.promise().awaited_by(h, owner_);
            return detail::trampoline::transfer(handle_);
        }
        T await_resume() const {
            handle_.promise().awaiter_resumed();
            return handle_.promise().result.take();
        }

      private:
        handle handle_;
        handle* owner_;  // in the task, from which `task_promise_base::release_child` takes the frame
    };

    handle handle_;  // owned; null: the task is empty; still set after the await, until the task is destroyed
};

namespace detail {

// Access to a task for joins and waiting threads: they start the task, which calls them at its end. Doesn't
// own the task.
template <class T>
class joined_task_ref {
  public:
    static constexpr bool runs_tasks_only = true;  // a join may continue with the coroutine directly

    explicit joined_task_ref(const task<T>& t) noexcept : handle_(t.handle_) {}

    // Throws std::logic_error if the task is empty or has ended; called before `start`. A task that a
    // coroutine awaits now is not detected: the test took 4 % of fib(30).
    void check_valid() const {
        if (!handle_ || handle_.done()) [[unlikely]]
            refuse_task();
    }

    // Returns the coroutine, to be resumed on `ex`. At its end the coroutine calls `join.task_ended`. `ends`:
    // the token that ends the coroutine's waits; null: none. `forked_before`: a coroutine that `task_ended`
    // may continue with: the part that was forked before this one, or the coroutine that forked this one.
    std::coroutine_handle<> start(task_join& join, executor& ex, const end_token* ends = nullptr,
                                  std::coroutine_handle<> forked_before = {}) const noexcept {
        handle_.promise().joined_by(join, ex, ends, forked_before);
        return handle_;
    }
    // Releases the frame: the caller owns it then.
    static void* release(task<T>& from) noexcept { return std::exchange(from.handle_, {}).address(); }
    // Takes over a frame that was released.
    static task<T> adopt(task_promise_base& ended) noexcept {
        using promise = task_promise<T>;
        return task<T>(std::coroutine_handle<promise>::from_promise(static_cast<promise&>(ended)));
    }

    const void* address() const noexcept { return handle_.address(); }
    bool has_exception() const noexcept { return handle_.promise().result.has_exception(); }
    std::exception_ptr exception() const noexcept { return handle_.promise().result.exception(); }
    T take() const { return handle_.promise().result.take(); }

  private:
    std::coroutine_handle<task_promise<T>> handle_;
};

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace detail

}  // namespace weir

#endif
