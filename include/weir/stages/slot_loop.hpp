// weir stages, internal: the coroutine of every slot's worker, and its awaiters, whose types are hidden
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SLOT_LOOP_HPP
#define WEIR_STAGES_SLOT_LOOP_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle, std::noop_coroutine
#include <exception>    // for std::current_exception, std::exception_ptr
#include <memory>       // for std::addressof, std::destroy_at, std::unique_ptr
#include <new>          // for placement new
#include <type_traits>  // for std::is_convertible_v, std::is_reference_v, std::is_void_v
#include <utility>      // for std::declval, std::exchange, std::forward, std::move

namespace weir::detail {

using worker_handle = detached_task<void>::handle;

// The base of the awaiters that the coroutine of a worker awaits. The coroutine does not depend on their
// types, and so is compiled once.
class any_awaiter {
  public:
    // Calls `await_suspend`. Returns the coroutine to resume next (if there is none, a no-op coroutine), or
    // null if the worker was not suspended. The awaiter may be destroyed before the call returns.
    virtual std::coroutine_handle<> suspend(worker_handle worker) = 0;
    // Whether `suspend` returns the coroutine to resume next, and never null.
    bool uses_symmetric_transfer() const noexcept { return transfers_; }

  protected:
    explicit any_awaiter(bool transfers) noexcept : transfers_(transfers) {}
    ~any_awaiter() = default;

  private:
    const bool transfers_;
};

template <class Awaiter>
inline constexpr bool has_symmetric_transfer =
    std::is_convertible_v<decltype(std::declval<Awaiter&>().await_suspend(std::declval<worker_handle>())),
                          std::coroutine_handle<>>;

// Calls `await_suspend`, and converts each of its result types to that of `any_awaiter::suspend`.
template <class Awaiter>
std::coroutine_handle<> suspend_in(Awaiter& awaiter, worker_handle worker) {
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

// Storage for the object that a function returns; empty at first. The object is constructed in place, and so
// need not be movable. For a reference type, stores a pointer.
template <class T>
class in_place {
  public:
    in_place() noexcept {}
    in_place(const in_place&) = delete;
    in_place& operator=(const in_place&) = delete;
    WEIR_ALWAYS_INLINE ~in_place() { reset(); }

    template <class Make>
    WEIR_ALWAYS_INLINE void construct(Make make) {
        ::new (static_cast<void*>(std::addressof(value))) T(make());
        has_value_ = true;
    }
    // As `construct`, without a lambda, whose call would be one more function of each type.
    template <class... Args>
    WEIR_ALWAYS_INLINE void emplace(Args&... args) {
        ::new (static_cast<void*>(std::addressof(value))) T(args...);
        has_value_ = true;
    }
    T& operator*() noexcept { return value; }
    T&& take() noexcept { return static_cast<T&&>(value); }
    WEIR_ALWAYS_INLINE void reset() noexcept {
        if (std::exchange(has_value_, false)) std::destroy_at(std::addressof(value));
    }

    union {
        T value;
    };

  private:
    bool has_value_ = false;
};
template <class T>
    requires std::is_reference_v<T>
class in_place<T> {
  public:
    template <class Make>
    void construct(Make make) {
        T made = make();
        value_ = std::addressof(made);
    }
    auto& operator*() noexcept { return *value_; }
    T&& take() noexcept { return static_cast<T&&>(*value_); }
    void reset() noexcept {}

  private:
    std::remove_reference_t<T>* value_;
};

// The awaiter of a take or put operation. The worker reuses it for each item.
template <class Operation>
class erased_operation final : public any_awaiter {
  public:
    template <class Slot>
    explicit erased_operation(Slot& me) noexcept
        : any_awaiter(has_symmetric_transfer<Operation>), operation(me) {}

    std::coroutine_handle<> suspend(worker_handle worker) override {
        return detail::suspend_in(operation, worker);
    }

    Operation operation;
};

// Awaits the awaitable that the function of a user has returned. `Awaitable`: the type of this awaitable;
// `Observed`: the type of a wrapper that is awaited instead, and records that the slot waits.
template <class Awaitable, class Observed>
class erased_call final : public any_awaiter {
    using awaiter = decltype(detail::get_awaiter(std::declval<Observed>()));

  public:
    erased_call() noexcept : any_awaiter(has_symmetric_transfer<std::remove_reference_t<awaiter>>) {}

    // Constructs the awaitable from `call()`, and the wrapper from `observe(awaitable)`. Returns null if the
    // worker need not wait. Stores an exception in `error`.
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
        }
        if (!this->uses_symmetric_transfer()) return nullptr;
        worker.promise().env().executor->post(worker);
        return std::noop_coroutine();
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
    std::exception_ptr error_;  // of `await_suspend`
};

// The worker of one slot: a state machine that returns to its coroutine whenever the worker has to wait.
class slot_machine {
  public:
    virtual ~slot_machine() = default;
    // Called once, before all else, on the stage's executor.
    virtual void begin(coroutine_env& env) noexcept = 0;
    // Runs the worker until it has to wait. Returns the awaiter to await before the next call, or null if the
    // worker has ended.
    virtual any_awaiter* advance() noexcept = 0;
};

// Awaiter that returns the environment of the awaiting coroutine, as a pointer: nvcc treats a reference that
// `co_await` returns as a value.
class my_env {
  public:
    bool await_ready() const noexcept { return false; }
    // Never suspends: resumes at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        env_ = &h.promise().env();
        return false;
    }
    coroutine_env* await_resume() const noexcept { return env_; }

  private:
    coroutine_env* env_ = nullptr;
};

// Awaits an `any_awaiter`. `Answer`: the result type of `await_suspend`, bool or std::coroutine_handle<>.
template <class Answer>
class erased_wait {
  public:
    explicit erased_wait(any_awaiter& awaiter) noexcept : awaiter_(&awaiter) {}
    bool await_ready() const noexcept { return false; }
    // Resumes where the `any_awaiter` resumes the coroutine.
    Answer await_suspend(worker_handle worker) const {
        return static_cast<Answer>(awaiter_->suspend(worker));
    }
    void await_resume() const noexcept {}

  private:
    any_awaiter* awaiter_;
};

// The coroutine of a worker. Owns the state machine, and destroys the machine before the coroutine signals
// its end.
detached_task<void> run_machine(std::unique_ptr<slot_machine> given);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/slot_loop.ipp>
#endif

#endif
