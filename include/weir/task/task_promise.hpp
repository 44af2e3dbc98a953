// weir task, internal: the promise of a task: what a task inherits, who is told of its end, what it gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_PROMISE_HPP
#define WEIR_TASK_TASK_PROMISE_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/result.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/frame_pool.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <exception>    // for std::current_exception
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange

namespace weir {

template <class T>
class task;

namespace detail {

template <class A>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// What one gets who awaits it and can't keep its awaiter: of what it moves from, if it is no task, the value.
template <class A>
using joined_result_t = std::conditional_t<is_task<A>, await_result_t<A>, lasting_t<await_result_t<A>>>;

// Runs as a part of the coroutine that awaits it, and tells the slot for itself.
template <class A>
concept part_of_its_awaiter = is_task<A> || requires { typename A::part_of_its_awaiter; };

// Such a one that can't be moved, as g++ 12 would even what `await_transform` gives by reference.
template <class A>
class in_its_place {
    A& inner_;

  public:
    explicit in_its_place(A& a) noexcept : inner_(a) {}
    WEIR_ALWAYS_INLINE bool await_ready() const { return inner_.await_ready(); }
    // Resumes where the inner awaiter lets it.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) const {
        return inner_.await_suspend(h);
    }
    // An optional that is returned through memory costs 5 ns: see `uninitialised_slot`.
    WEIR_ALWAYS_INLINE decltype(auto) await_resume() const { return inner_.await_resume(); }
};

template <class A>
using as_it_is = std::conditional_t<std::is_move_constructible_v<std::remove_cvref_t<A>>, A&&,
                                    in_its_place<std::remove_reference_t<A>>>;

// Awaits on behalf of a stage's function and tells the slot: suspended from here, back from there.
// Without a slot it costs one comparison.
template <class A>
class observed {
    using inner = decltype(detail::get_awaiter(std::declval<A>()));

  public:
    observed(A&& a, coroutine_env& env) : inner_(detail::get_awaiter(std::forward<A>(a))), env_(&env) {}
    observed(const observed&) = delete;
    observed& operator=(const observed&) = delete;

    bool await_ready() { return static_cast<bool>(inner_.await_ready()); }

    // Resumes where the inner awaiter lets it.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) {
        // Told before the inner call, which may publish the coroutine: after it nothing is touched
        // unless it says that the coroutine stays.
        suspended_ = env_->measured != nullptr || env_->ends != nullptr;
        constexpr bool ready = requires { std::remove_reference_t<inner>::ready_at_once; };
        if (suspended_) detail::pauses(*env_, ready ? slot_state::runnable : slot_state::await);
        using answer = decltype(inner_.await_suspend(h));
        if constexpr (std::same_as<answer, bool> || std::is_void_v<answer>) {
            return inner_.await_suspend(h);
        } else {
            // What it names may be anybody's, unless it says that it has seen to that.
            if constexpr (!requires { std::remove_reference_t<inner>::goes_on_with_parts; }) {
                trampoline::let_go_here();
            }
            return std::coroutine_handle<>(inner_.await_suspend(h));
        }
    }

    WEIR_ALWAYS_INLINE decltype(auto) await_resume() {
        if (suspended_) {
            if constexpr (requires { inner_.ready_at(); }) {
                detail::continues(*env_, inner_.ready_at());
            } else {
                detail::continues(*env_);
            }
        }
        return inner_.await_resume();
    }

  private:
    inner inner_;
    coroutine_env* env_;
    bool suspended_ = false;
};

class task_promise_base;

// What a task tells instead of an awaiter that it has ended: a join of several.
class task_join {
  public:
    // The last thing that happens to the task; may destroy it. What is to run next on its thread.
    virtual std::coroutine_handle<> task_ended(task_promise_base& it) noexcept = 0;

  protected:
    ~task_join() = default;
};

class task_promise_base {
  public:
    coroutine_env& env() noexcept { return env_; }

    static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { frame_pool::free(frame, size); }

    // A part of a join may begin on any thread, which then knows for whose work; an awaited task begins where
    // its awaiter runs.
    class begin {
      public:
        explicit begin(const task_promise_base& p) noexcept : promise_(&p) {}
        bool await_ready() const noexcept { return false; }
        // Resumed where it is awaited, or by the executor of its join.
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        WEIR_ALWAYS_INLINE void await_resume() const noexcept {
            const coroutine_env& env = promise_->env_;
            if (promise_->join_ != nullptr && env.ends != nullptr) detail::continues(env);
        }

      private:
        const task_promise_base* promise_;
    };
    begin initial_suspend() const noexcept { return begin(*this); }

    class to_awaiter {
      public:
        bool await_ready() const noexcept { return false; }
        // This coroutine resumes where its next item is awaited, or never. Its awaiter resumes at once on
        // this thread if that is one of its executor's, else by a post there.
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
            task_promise_base& p = h.promise();
            return p.join_ != nullptr ? p.join_->task_ended(p) : p.wake_awaiter();
        }
        void await_resume() const noexcept {}
    };

    to_awaiter final_suspend() const noexcept { return {}; }

    template <class A>
    decltype(auto) await_transform(A&& a) {
        static_assert(awaitable<A>,
                      "weir: co_await needs an awaitable; this expression is none. If it is a "
                      "coroutine function, call it; if it is a task with a name, it gives its result "
                      "away: co_await std::move(it); if it is a value, use it as it is");
        if constexpr (part_of_its_awaiter<std::remove_cvref_t<A>>) {
            return static_cast<detail::as_it_is<A>>(a);
        } else if constexpr (awaitable<A>) {
            return observed<A>(std::forward<A>(a), env_);
        } else {
            return std::suspend_never();
        }
    }

    template <class U>
    std::suspend_never yield_value(U&&) const noexcept {
        static_assert(std::is_void_v<U>,
                      "weir: a task gives one result: co_return it; what gives many with co_yield is a "
                      "generator, or an async_generator");
        return {};
    }

    // The awaiter is back on its executor.
    void awaiter_resumed() noexcept {
        if (std::exchange(was_posted_, false)) detail::continues(env_);
    }

    void awaited_by(std::coroutine_handle<> awaiter, const coroutine_env& env) noexcept {
        awaiter_ = awaiter;
        awaiter_executor_ = env.executor;
        env_ = env;
    }

    bool was_awaited() const noexcept { return awaiter_ != nullptr || join_ != nullptr; }

    void joined_by(task_join& join, executor& ex, const end_token* ends,
                   std::coroutine_handle<> forked_before) noexcept {
        join_ = &join;
        awaiter_ = forked_before;
        env_.executor = &ex;
        env_.ends = ends;
    }
    // Of one that is joined: what the thread that started it had forked last by then.
    std::coroutine_handle<> forked_before() const noexcept { return awaiter_; }

  private:
    // Not inlined, as parts of a join do without it.
    WEIR_NOINLINE std::coroutine_handle<> wake_awaiter() noexcept {
        if (awaiter_executor_ == nullptr) return trampoline::transfer(awaiter_);
        // What the body awaited last may have left it on a thread of somebody else.
        if (awaiter_executor_ == env_.executor) {
            if (const auto next = trampoline::transfer_at_work(awaiter_)) return next;
        }
        was_posted_ = env_.measured != nullptr || env_.ends != nullptr;
        if (slot* const measured = env_.measured) {
            measured->enter(slot_state::runnable, clock_of(*measured));
        }
        awaiter_executor_->post(awaiter_);  // the frame may be gone from here on
        return std::noop_coroutine();
    }

    coroutine_env env_;
    task_join* join_ = nullptr;
    std::coroutine_handle<> awaiter_;  // or what was forked before
    executor* awaiter_executor_ = nullptr;
    bool was_posted_ = false;  // by a post, which the stage has to be told of
};

// What `co_return` may be given. Where that becomes a reference, this refers to what is still there then, as
// far as that can be told: not to an rvalue, nor to what is made of something. (Of what has a conversion
// function it is believed: std::ref does.)
template <class U, class T>
concept refers = std::is_convertible_v<std::remove_reference_t<U>*, std::remove_reference_t<T>*> &&
                 std::is_lvalue_reference_v<U> == std::is_lvalue_reference_v<T>;
template <class U, class T>
concept has_conversion = requires(U&& u) { std::forward<U>(u).operator T(); } ||
                         requires(U&& u) { std::forward<U>(u).operator std::remove_cvref_t<T>&(); };
template <class U, class T>
concept returnable =
    (std::convertible_to<U&&, T> && (!std::is_reference_v<T> || refers<U, T> || has_conversion<U, T>)) ||
    (std::same_as<std::remove_cvref_t<U>, T> && std::convertible_to<const U&, T>);

template <class T>
class task_promise final : public task_promise_base {
  public:
    task<T> get_return_object() noexcept;
    void unhandled_exception() noexcept { result.set_exception(std::current_exception()); }
    template <class U = T>
        requires returnable<U, T>
    void return_value(U&& value) {
        result.set_value(std::forward<U>(value));
    }
    template <class U>
        requires(!returnable<U, T>)
    void return_value(U&&) {
        static_assert(
            !std::convertible_to<U&&, T>,
            "weir: a task<T&> co_returns something that outlives it, and this would be gone at once: "
            "it is made for this expression, or in this coroutine. Let the task give a value");
        static_assert(std::convertible_to<U&&, T>,
                      "weir: a task<T> co_returns a T, or what becomes one by itself, and this is neither; "
                      "what can't be copied is moved: co_return std::move(it)");
    }
    detail::result<T> result;
};

template <>
class task_promise<void> final : public task_promise_base {
  public:
    task<void> get_return_object() noexcept;
    void unhandled_exception() noexcept { result.set_exception(std::current_exception()); }
    void return_void() noexcept { result.set_value(); }
    detail::result<void> result;
};

}  // namespace detail

}  // namespace weir

#endif
