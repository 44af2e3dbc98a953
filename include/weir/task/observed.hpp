// weir task, internal: awaiters that record in a stage's slot when its function suspends and resumes
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_OBSERVED_HPP
#define WEIR_TASK_OBSERVED_HPP

#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::forward

namespace weir {

namespace detail {

// A task, which belongs to the same function of a stage as the coroutine that awaits it, or an awaitable that
// updates the slot by itself: in both cases the await is not observed.
template <class A>
concept updates_slot_itself = is_task<A> || requires { typename A::updates_slot_itself; };

// Refers to an awaiter that can't be moved: g++ 12 moves the result of `await_transform`, even a reference.
template <class A>
class awaiter_ref {
    A& inner_;

  public:
    explicit awaiter_ref(A& a) noexcept : inner_(a) {}
    WEIR_ALWAYS_INLINE bool await_ready() const { return inner_.await_ready(); }
    // Resumes where the inner awaiter resumes the coroutine.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) const {
        return inner_.await_suspend(h);
    }
    // An optional that is returned through memory costs 5 ns: see `uninitialised_slot`.
    WEIR_ALWAYS_INLINE decltype(auto) await_resume() const { return inner_.await_resume(); }
};

template <class A>
using unobserved = std::conditional_t<std::is_move_constructible_v<std::remove_cvref_t<A>>, A&&,
                                      awaiter_ref<std::remove_reference_t<A>>>;

// Wraps the awaiter of an A, and records in the slot when the coroutine suspends and resumes. In a coroutine
// without a slot it costs one comparison.
template <class A>
class observed {
    using inner = decltype(detail::get_awaiter(std::declval<A>()));

  public:
    observed(A&& a, coroutine_env& env) : inner_(detail::get_awaiter(std::forward<A>(a))), env_(&env) {}
    observed(const observed&) = delete;
    observed& operator=(const observed&) = delete;

    bool await_ready() { return static_cast<bool>(inner_.await_ready()); }

    // Resumes where the inner awaiter resumes the coroutine.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) {
        // Recorded before the inner call: afterwards the coroutine may be running elsewhere, or be gone.
        suspended_ = env_->measured != nullptr || env_->ends != nullptr;
        constexpr bool ready = requires { std::remove_reference_t<inner>::ready_at_once; };
        if (suspended_) detail::function_suspended(*env_, ready ? slot_state::runnable : slot_state::await);
        using answer = decltype(inner_.await_suspend(h));
        if constexpr (std::same_as<answer, bool> || std::is_void_v<answer>) {
            return inner_.await_suspend(h);
        } else {
            // The next coroutine may be unrelated to this one, unless the awaiter resumes its own parts.
            if constexpr (!requires { std::remove_reference_t<inner>::resumes_own_parts; }) {
                trampoline::let_go_here();
            }
            return std::coroutine_handle<>(inner_.await_suspend(h));
        }
    }

    WEIR_ALWAYS_INLINE decltype(auto) await_resume() {
        if (suspended_) {
            if constexpr (requires { inner_.ready_at(); }) {
                detail::function_resumed(*env_, inner_.ready_at());
            } else {
                detail::function_resumed(*env_);
            }
        }
        return inner_.await_resume();
    }

  protected:
    inner inner_;

  private:
    coroutine_env* env_;
    bool suspended_ = false;
};

// A join that is awaited. If its awaiter is destroyed meanwhile, the frames of the parts are taken one by
// one.
class awaited_join {
  public:
    // Releases the frame of one part: the caller owns the frame then. Null: no frame is left.
    virtual void* release_one() noexcept = 0;

  protected:
    ~awaited_join() = default;
};
template <class A>
concept joins_frames = requires(std::remove_cvref_t<A>& a) { a.release_one(); };

}  // namespace detail

}  // namespace weir

#endif
