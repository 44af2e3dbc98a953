// weir task, internal: the promise of a task: its environment, its awaiter, its destruction and its result
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_PROMISE_HPP
#define WEIR_TASK_TASK_PROMISE_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/frame_pool.hpp>
#include <weir/task/slot_accounting.hpp>

#include <concepts>     // for std::convertible_to, std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::uint8_t
#include <cstring>      // for std::memcpy, std::memset
#include <exception>    // for std::current_exception
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange

namespace weir::detail {

class task_promise_base;

// A when_all, a group, or a waiting thread: called when a task has ended that no coroutine awaits directly.
class task_join {
  public:
    // The last call of the task; may destroy the task. Returns the coroutine that runs next on the thread.
    virtual std::coroutine_handle<> task_ended(task_promise_base& ended) noexcept = 0;

  protected:
    ~task_join() = default;
};

template <class A>
class observed_join;

// The part of a promise that doesn't depend on the result; also the base of the promise of `async_generator`.
class task_promise_base : public pooled_frame {
  public:
    // Copied from the awaiting coroutine, or set by `joined_by`.
    coroutine_env& env() noexcept { return env_; }

    // Destroys a suspended coroutine, and before it the coroutines that it awaits: the innermost first, as an
    // exception would. Not recursive, so that a long chain needs no deep stack.
    template <class Promise>
    static void destroy(std::coroutine_handle<Promise> h) noexcept {
        h.promise().child_ != nullptr ? destroy_all(h, h.promise()) : h.destroy();
    }

    // Records for which stage or run the thread works, if the coroutine is a part of a join or group. Such a
    // part may begin on any thread. Other tasks begin on their awaiter's thread, where the stage or run is
    // recorded already.
    class initial_awaiter {
      public:
        explicit initial_awaiter(const task_promise_base& p) noexcept : promise_(&p) {}
        bool await_ready() const noexcept { return false; }
        // Resumed on the thread that awaits the task, or on the executor of its join.
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        WEIR_ALWAYS_INLINE void await_resume() const noexcept {
            const coroutine_env& env = promise_->env_;
            if (promise_->awaited_ == awaited::in_join && env.ends != nullptr) detail::function_resumed(env);
        }

      private:
        const task_promise_base* promise_;
    };
    initial_awaiter initial_suspend() const noexcept { return initial_awaiter(*this); }

    class final_awaiter {
      public:
        bool await_ready() const noexcept { return false; }
        // A generator resumes when its next item is awaited; a task never. The awaiter resumes at once if it
        // has no executor, or has this executor and the thread belongs to one; else by a post.
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
            task_promise_base& p = h.promise();
            return p.awaited_ == awaited::in_join ? p.join_->task_ended(p) : p.wake_awaiter();
        }
        void await_resume() const noexcept {}
    };

    final_awaiter final_suspend() const noexcept { return {}; }

    template <class A>
    decltype(auto) await_transform(A&& a) {
        static_assert(awaitable<A>,
                      "weir: co_await needs an awaitable; this expression is none. If it is a "
                      "coroutine function, call it; if it is a task with a name, it gives its result "
                      "away: co_await std::move(it); if it is a value, use it as it is");
        if constexpr (updates_slot_itself<std::remove_cvref_t<A>>) {
            return static_cast<detail::unobserved<A>>(a);
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

    // Called when the awaiting coroutine has resumed. After a post, ends the state `runnable` (waits for a
    // thread) of the slot (a worker); without a slot, records for which stage or run the thread works.
    void awaiter_resumed() noexcept {
        if (std::exchange(was_posted_, false)) detail::function_resumed(env_);
    }

    // Stores the awaiter, and copies its environment. `owner`: the handle that the task object holds.
    template <class Promise, class Own>
    void awaited_by(std::coroutine_handle<Promise> awaiter, std::coroutine_handle<Own>* owner) noexcept {
        awaiter_ = awaiter;
        if constexpr (std::is_base_of_v<task_promise_base, Promise>) {
            awaited_ = awaited::by_ours;
            parent_ = &awaiter.promise();
            env_ = parent_->env_;
            parent_->child_ = has_default_offset<Own> ? owner : nullptr;
        } else {
            awaited_ = awaited::by_foreign;
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
    // In a join: the part that the thread forked before this one, or null. In a group: the awaiter of `fork`.
    std::coroutine_handle<> forked_before() const noexcept { return awaiter_; }

    // Stores the join that this coroutine awaits now; null: none.
    void set_join(awaited_join* join) noexcept {
        child_ = join;
        child_is_join_ = join != nullptr;
    }
    // Whether the promise lies at the place in the frame where `promise_of` expects it.
    template <class Promise>
    static constexpr bool has_default_offset = alignof(Promise) <= 2 * sizeof(void*);

  private:
    // Awaited by a coroutine of this library, by one of another library, or as a part of a join or group.
    enum class awaited : std::uint8_t { not_yet, by_ours, by_foreign, in_join };

    // Resumes or posts the awaiting coroutine. Not inlined: parts of a join do without this code.
    WEIR_NOINLINE std::coroutine_handle<> wake_awaiter() noexcept {
        executor* to = awaiter_executor_;
        if (awaited_ == awaited::by_ours) [[likely]] {
            to = parent_->env_.executor;
            parent_->child_ = nullptr;
        }
        if (to == nullptr) return trampoline::transfer(awaiter_);
        // If unequal, `co_await schedule` has moved the task. If `next` is null, the thread has no executor.
        if (to == env_.executor) {
            if (const auto next = trampoline::transfer_at_work(awaiter_)) return next;
        }
        was_posted_ = env_.measured != nullptr || env_.ends != nullptr;
        if (slot* const measured = env_.measured) measured->enter(slot_state::runnable, clock_of(*measured));
        to->post(awaiter_);  // the frame may be gone from here on
        return std::noop_coroutine();
    }

    // All promises of this library with the default alignment have the same offset in their frames.
    static task_promise_base& promise_of(void* frame) noexcept {
        return std::coroutine_handle<task_promise_base>::from_address(frame).promise();
    }
    // Goes down to the innermost coroutine, and sets `parent_` and `awaiter_` of each coroutine to the one
    // above. Then destroys the coroutines on the way up.
    WEIR_NOINLINE static void destroy_all(std::coroutine_handle<> frame, task_promise_base& top) noexcept {
        top.parent_ = nullptr;
        for (task_promise_base* at = &top; at != nullptr;) {
            if (void* const child = at->release_child()) {
                task_promise_base& next = promise_of(child);
                next.parent_ = at;
                next.awaiter_ = std::exchange(frame, std::coroutine_handle<>::from_address(child));
                at = &next;
            } else {
                const std::coroutine_handle<> ended = std::exchange(frame, at->awaiter_);
                at = at->parent_;
                ended.destroy();
            }
        }
    }

    // Releases the frame of the awaited coroutine, or of one part of the awaited join. Null: none is left.
    void* release_child() noexcept {
        if (child_is_join_) return static_cast<awaited_join*>(child_)->release_one();
        void* frame = nullptr;
        if (void* const owner = std::exchange(child_, nullptr)) {
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
    };  // `awaited_` tells which: in_join, by_ours, by_foreign
    std::coroutine_handle<> awaiter_;  // in a join: see `forked_before`
    // While this coroutine awaits: an `awaited_join`, or the handle that an awaited task or generator holds.
    void* child_ = nullptr;
    bool child_is_join_ = false;
    awaited awaited_ = awaited::not_yet;
    bool was_posted_ = false;  // the awaiter was posted: awaiter_resumed() records the resumption
};

// Awaits a `when_all` or `when_any`; its base records the wait in the slot (stage worker), if any. Meanwhile
// the awaiter's promise points to this object, by which `destroy` finds the frames of the parts.
template <class A>
class observed_join final : public observed<A>, awaited_join {
  public:
    observed_join(A&& a, task_promise_base& awaiter)
        : observed<A>(std::forward<A>(a), awaiter.env()), awaiter_(&awaiter) {}
    observed_join(const observed_join&) = delete;
    ~observed_join() {
        if (awaiter_ != nullptr) awaiter_->set_join(nullptr);
    }

    template <class Promise>  // Resumes where the inner awaiter resumes the coroutine.
    auto await_suspend(std::coroutine_handle<Promise> h) {
        awaiter_->set_join(this);
        return observed<A>::await_suspend(h);
    }
    decltype(auto) await_resume() {
        std::exchange(awaiter_, nullptr)->set_join(nullptr);
        return observed<A>::await_resume();
    }

  private:
    void* release_one() noexcept override { return this->inner_.release_one(); }

    task_promise_base* awaiter_;  // null: the await has ended
};

// The operands of `co_return`. For a task that gives a reference: an lvalue for `T&`, an rvalue for `T&&`,
// and no conversion that makes a temporary. A conversion function, as std::ref's, is assumed to make none.
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
