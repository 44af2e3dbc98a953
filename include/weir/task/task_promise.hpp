// weir task, internal: the promise of a task: what a task inherits, who is told of its end, what it gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_PROMISE_HPP
#define WEIR_TASK_TASK_PROMISE_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/result.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/frame_pool.hpp>
#include <weir/task/observed.hpp>

#include <concepts>     // for std::convertible_to, std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::uint8_t
#include <cstring>      // for std::memcpy, std::memset
#include <exception>    // for std::current_exception
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange

namespace weir::detail {

class task_promise_base;

// What a task tells instead of an awaiter that it has ended: a join of several.
class task_join {
  public:
    // The last thing that happens to the task; may destroy it. What is to run next on its thread.
    virtual std::coroutine_handle<> task_ended(task_promise_base& it) noexcept = 0;

  protected:
    ~task_join() = default;
};

template <class A>
class observed_join;

class task_promise_base : public pooled_frame {
  public:
    coroutine_env& env() noexcept { return env_; }

    // A suspended coroutine, after those that it awaits, as an exception does; the stack stays flat.
    template <class Promise>
    static void destroy(std::coroutine_handle<Promise> h) noexcept {
        h.promise().below_ != nullptr ? destroy_all(h, h.promise()) : h.destroy();
    }

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
            if (promise_->awaited_ == awaited::in_join && env.ends != nullptr) detail::function_resumed(env);
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
            return p.awaited_ == awaited::in_join ? p.join_->task_ended(p) : p.wake_awaiter();
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
        } else if constexpr (joins_frames<A>) {
            return observed_join<A>(std::forward<A>(a), *this);
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
        if (std::exchange(was_posted_, false)) detail::function_resumed(env_);
    }

    // `owner`: where the handle of this one is kept.
    template <class Promise, class Own>
    void awaited_by(std::coroutine_handle<Promise> awaiter, std::coroutine_handle<Own>* owner) noexcept {
        awaiter_ = awaiter;
        if constexpr (std::is_base_of_v<task_promise_base, Promise>) {
            awaited_ = awaited::by_one_of_ours;
            parent_ = &awaiter.promise();
            env_ = parent_->env_;
            parent_->below_ = has_default_offset<Own> ? owner : nullptr;
        } else {
            awaited_ = awaited::by_another;
            env_ = detail::env_of(awaiter);
            awaiter_executor_ = env_.executor;
        }
    }

    bool was_awaited() const noexcept { return awaited_ != awaited::not_yet; }

    void joined_by(task_join& join, executor& ex, const end_token* ends,
                   std::coroutine_handle<> forked_before) noexcept {
        awaited_ = awaited::in_join;
        join_ = &join;
        awaiter_ = forked_before;
        env_.executor = &ex;
        env_.ends = ends;
    }
    // Of one that is joined: what the thread that started it had forked last by then.
    std::coroutine_handle<> forked_before() const noexcept { return awaiter_; }

    // A join, for as long as that is there; null: no more.
    void awaits(awaited_join* join) noexcept {
        below_ = join;
        joins_ = join != nullptr;
    }
    // Whether the promise is where `promise_of` looks for it.
    template <class Promise>
    static constexpr bool has_default_offset = alignof(Promise) <= 2 * sizeof(void*);

  private:
    enum class awaited : std::uint8_t { not_yet, by_one_of_ours, by_another, in_join };

    // Not inlined, as parts of a join do without it.
    WEIR_NOINLINE std::coroutine_handle<> wake_awaiter() noexcept {
        executor* to = awaiter_executor_;
        if (awaited_ == awaited::by_one_of_ours) [[likely]] {
            to = parent_->env_.executor;
            parent_->below_ = nullptr;
        }
        if (to == nullptr) return trampoline::transfer(awaiter_);
        // What the body awaited last may have left it on a thread of somebody else.
        if (to == env_.executor) {
            if (const auto next = trampoline::transfer_at_work(awaiter_)) return next;
        }
        was_posted_ = env_.measured != nullptr || env_.ends != nullptr;
        if (slot* const measured = env_.measured) {
            measured->enter(slot_state::runnable, clock_of(*measured));
        }
        to->post(awaiter_);  // the frame may be gone from here on
        return std::noop_coroutine();
    }

    // The promise lies where that of any coroutine of ours does.
    static task_promise_base& promise_of(void* frame) noexcept {
        return std::coroutine_handle<task_promise_base>::from_address(frame).promise();
    }
    // With two links of each frame turned round on the way down, to go up again.
    WEIR_NOINLINE static void destroy_all(std::coroutine_handle<> frame, task_promise_base& top) noexcept {
        top.parent_ = nullptr;
        for (task_promise_base* at = &top; at != nullptr;) {
            if (void* const below = at->release_one()) {
                task_promise_base& next = promise_of(below);
                next.parent_ = at;
                next.awaiter_ = std::exchange(frame, std::coroutine_handle<>::from_address(below));
                at = &next;
            } else {
                const std::coroutine_handle<> ended = std::exchange(frame, at->awaiter_);
                at = at->parent_;
                ended.destroy();
            }
        }
    }

    // The frame of what it awaits, or of a part of that.
    void* release_one() noexcept {
        if (joins_) return static_cast<awaited_join*>(below_)->release_one();
        void* frame = nullptr;
        if (void* const owner = std::exchange(below_, nullptr)) {
            std::memcpy(static_cast<void*>(&frame), owner, sizeof(frame));  // a handle, whatever its promise
            std::memset(owner, 0, sizeof(frame));
        }
        return frame;
    }

    coroutine_env env_;
    union {
        task_join* join_;             // NOLINT(readability-identifier-naming): these are private, too
        task_promise_base* parent_;   // NOLINT(readability-identifier-naming)
        executor* awaiter_executor_;  // NOLINT(readability-identifier-naming)
    };  // by `awaited_`: in a join, by one of ours, by another
    std::coroutine_handle<> awaiter_;  // or what was forked before
    // While it is suspended in that: an `awaited_join`, or where the handle of a task or generator is kept.
    void* below_ = nullptr;
    bool joins_ = false;  // that is a join
    awaited awaited_ = awaited::not_yet;
    bool was_posted_ = false;  // by a post, which the stage has to be told of
};

// Tells the coroutine what it awaits, until it goes on.
template <class A>
class observed_join final : public observed<A>, awaited_join {
  public:
    observed_join(A&& a, task_promise_base& awaiter)
        : observed<A>(std::forward<A>(a), awaiter.env()), awaiter_(&awaiter) {}
    observed_join(const observed_join&) = delete;
    ~observed_join() {
        if (awaiter_ != nullptr) awaiter_->awaits(nullptr);
    }

    template <class Promise>  // Resumes where the inner awaiter lets it.
    auto await_suspend(std::coroutine_handle<Promise> h) {
        awaiter_->awaits(this);
        return observed<A>::await_suspend(h);
    }
    decltype(auto) await_resume() {
        std::exchange(awaiter_, nullptr)->awaits(nullptr);
        return observed<A>::await_resume();
    }

  private:
    void* release_one() noexcept override { return this->inner_.release_one(); }

    task_promise_base* awaiter_;
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

}  // namespace weir::detail

#endif
