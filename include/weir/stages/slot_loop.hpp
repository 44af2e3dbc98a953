// weir stages, internal: the coroutine of every slot's worker, and its type-erased awaiters
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SLOT_LOOP_HPP
#define WEIR_STAGES_SLOT_LOOP_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/owned.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle, std::noop_coroutine
#include <exception>    // for std::current_exception, std::exception_ptr
#include <memory>       // for std::addressof
#include <type_traits>  // for std::is_reference_v, std::is_void_v
#include <utility>      // for std::declval, std::exchange, std::move

namespace weir::detail {

// The coroutine of a worker, which processes the items of one slot of a stage.
using worker_handle = detached_task<void>::handle;

// The base of the awaiters of rare waits, and of waits for an awaitable that a function of the user returns.
class any_awaiter {
  public:
    // Calls `await_suspend`. Returns the coroutine to resume next (if there is none, a no-op coroutine), or
    // null if the worker was not suspended. The awaiter may be destroyed before the call returns.
    virtual std::coroutine_handle<> suspend(worker_handle worker) = 0;

  protected:
    ~any_awaiter() = default;
};

// Calls `await_suspend`, and converts each of its result types to that of `any_awaiter::suspend`.
template <class Awaiter>
WEIR_ALWAYS_INLINE std::coroutine_handle<> suspend_in(Awaiter& awaiter, worker_handle worker) {
    using answer = decltype(awaiter.await_suspend(worker));
    if constexpr (std::is_void_v<answer>) {
        awaiter.await_suspend(worker);
        return std::noop_coroutine();
    } else if constexpr (std::same_as<answer, bool>) {
        return awaiter.await_suspend(worker) ? std::coroutine_handle<>(std::noop_coroutine()) : nullptr;
    } else {
        return awaiter.await_suspend(worker);
    }
}

// Suspends `worker` in a type-erased awaiter: see `any_awaiter::suspend`. `awaiter`: null if the worker need
// not wait; the result is then null, too.
inline std::coroutine_handle<> suspend_in(any_awaiter* awaiter, worker_handle worker) {
    return awaiter != nullptr ? awaiter->suspend(worker) : nullptr;
}

// What a function returns, an object or a reference; empty at first.
template <class T>
class in_place : public later<T> {
  public:
    T&& take() noexcept { return static_cast<T&&>(this->value); }  // the object, to be moved
};
template <class T>
    requires std::is_reference_v<T>
class in_place<T> {
  public:
    template <class Make>
    void construct(Make make) {
        T object = make();  // `T` is a reference
        value_ = std::addressof(object);
    }
    auto& operator*() noexcept { return *value_; }
    T&& take() noexcept { return static_cast<T&&>(*value_); }
    void reset() noexcept {}

  private:
    std::remove_reference_t<T>* value_;
};

// Awaits the awaitable that the function of a user has returned. `Awaitable`: the type of this awaitable;
// `Observed`: the type of a wrapper that is awaited instead, and records that the slot waits.
template <class Awaitable, class Observed>
class erased_call final : public any_awaiter {
    using awaiter = decltype(detail::get_awaiter(std::declval<Observed>()));

  public:
    // Constructs the awaitable from `call()`, and the wrapper from `observe(awaitable)`. Returns this object
    // if the worker has to wait, else null; null also after an exception, which is stored in `error`.
    template <class Call, class Observe>
    any_awaiter* begin(Call call, Observe observe, std::exception_ptr& error) noexcept {
        try {
            awaitable_.construct(call);
            observed_.construct([&]() -> Observed { return observe(*awaitable_); });
            awaiter_.construct([&]() -> awaiter { return detail::get_awaiter(observed_.take()); });
            return (*awaiter_).await_ready() ? nullptr : this;
        } catch (...) {
            error = std::current_exception();
            return nullptr;
        }
    }
    // Calls `store` with the result, unless `error` is set. Stores an exception of the awaitable, or of
    // `store`, in `error`. Then destroys the awaitable.
    template <class Store>
    void end(Store store, std::exception_ptr& error) noexcept {
        try {
            if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
            if (!error) resume(store);
        } catch (...) {
            error = std::current_exception();
        }
        awaiter_.reset();
        observed_.reset();
        awaitable_.reset();
    }

    std::coroutine_handle<> suspend(worker_handle worker) override {
        try {
            return detail::suspend_in(*awaiter_, worker);
        } catch (...) {
            error_ = std::current_exception();
            return nullptr;
        }
    }

  private:
    template <class Store>
    void resume(Store& store) {
        if constexpr (std::is_void_v<decltype((*awaiter_).await_resume())>) {
            (*awaiter_).await_resume();
            store();
        } else {
            store((*awaiter_).await_resume());
        }
    }

    in_place<Awaitable> awaitable_;
    in_place<Observed> observed_;
    in_place<awaiter> awaiter_;
    std::exception_ptr error_;  // the exception of `await_suspend`
};

// The worker of one slot: a state machine that returns to its coroutine whenever the worker has to wait.
class slot_machine {
  public:
    virtual ~slot_machine() = default;
    // Prepares the worker. Called once, before all else, on the stage's executor. `env`: the environment of
    // the coroutine: its executor, and what ends its waits.
    virtual void begin(coroutine_env& env) noexcept = 0;
    // Runs the worker until it has to wait. `worker`: the coroutine, which is suspended during the call.
    // Returns the coroutine to resume next (if there is none, a no-op coroutine), or null if the worker has
    // ended. Unless null is returned, the machine may already run on another thread, or be destroyed.
    // Errors: those of `await_suspend` of a take or put.
    virtual std::coroutine_handle<> advance(worker_handle worker) = 0;
};

// Awaiter that returns the environment of the awaiting coroutine, as a pointer: nvcc treats a reference that
// `co_await` returns as a value.
class my_env {
  public:
    bool await_ready() const noexcept { return false; }
    // Never suspends: resumes the coroutine at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        env_ = &h.promise().env();
        return false;
    }
    coroutine_env* await_resume() const noexcept { return env_; }

  private:
    coroutine_env* env_ = nullptr;
};

// Awaiter that runs a machine until the machine has to wait. Resumes the coroutine where the wait ends, or at
// once if the machine has ended.
class machine_awaiter {
  public:
    explicit machine_awaiter(slot_machine& machine) noexcept : machine_(machine) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(worker_handle worker) {
        if (const std::coroutine_handle<> next = machine_.advance(worker)) return next;
        has_ended_ = true;
        return worker;
    }
    // Whether the machine has to run on.
    bool await_resume() const noexcept { return !has_ended_; }

  private:
    slot_machine& machine_;
    bool has_ended_ = false;
};

// The coroutine of a worker. Owns the state machine, and destroys the machine before the coroutine tells the
// run that it has ended (`run_core::ended`): from then on, the run and the stage may be destroyed.
detached_task<void> run_machine(owned<slot_machine> given);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/slot_loop.ipp>
#endif

#endif
