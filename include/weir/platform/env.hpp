// weir platform, internal: the environment that a coroutine inherits from its awaiter; a coroutine's result
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_ENV_HPP
#define WEIR_PLATFORM_ENV_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <exception>    // for std::exception_ptr
#include <optional>     // for std::optional
#include <stdexcept>    // for std::logic_error
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::as_const, std::forward

namespace weir {
class executor;
template <class Platform>
class basic_stop_token;
}  // namespace weir

namespace weir::detail {

class slot;
struct standard_platform;

// The token that ends the waits of coroutines (see `coroutine_env::ends`), and the stage of a pipeline, or
// the run (a started pipeline), for which they work. `stop`: the token. `work`: an address that identifies
// the stage or run; null: none is known. A thread that runs such a coroutine notes `work`: a wait for the end
// of the coroutine's own run then throws.
struct end_token {
    const basic_stop_token<standard_platform>* stop;
    const void* work = nullptr;
};

// The environment, which a coroutine copies from the coroutine that awaits it.
struct coroutine_env {
    // Runs the coroutine, which is posted to this executor after a wait; null: none.
    weir::executor* executor = nullptr;
    // The slot (worker) of the stage whose function this coroutine is a part of; null: of no stage.
    slot* measured = nullptr;
    // The token that ends the waits of this coroutine; null: none. It is stopped when the run of the stage is
    // stopped, when this call of the stage's function exceeds its `time_limit`, or when another part of a
    // `when_any` ends first.
    const end_token* ends = nullptr;
};

// A promise type of this library.
template <class Promise>
concept has_env = requires(Promise& p) {
    { p.env() } -> std::same_as<coroutine_env&>;
};

// The address that identifies the stage or run for which a coroutine works, as in `end_token::work`; null:
// none is known.
inline const void* work_of(const end_token* ends) noexcept { return ends != nullptr ? ends->work : nullptr; }

// The executor whose coroutine this thread runs now, or null. Not inlined: a coroutine would keep the
// thread-local address when it continues on another thread.
WEIR_NOINLINE inline executor*& current_executor() noexcept {
    struct per_thread {
        executor* here = nullptr;
    };
    return standard_platform::of_thread<per_thread>().here;
}

// A promise type of another library that names the executor of its coroutine.
template <class Promise>
concept names_executor = requires(Promise& p) {
    { p.weir_executor() } -> std::same_as<executor&>;
};

// The environment of any coroutine: that of its promise, if this library defines the promise. Otherwise only
// an executor: the one that the promise names, or the one whose coroutine this thread runs, which may be
// null. The result may be a reference into the coroutine frame: don't read it once another thread may resume
// the coroutine.
template <class Promise>
decltype(auto) env_of(std::coroutine_handle<Promise> h) noexcept {
    if constexpr (has_env<Promise>) {
        return static_cast<const coroutine_env&>(h.promise().env());
    } else if constexpr (names_executor<Promise>) {
        return coroutine_env{&h.promise().weir_executor(), nullptr, nullptr};
    } else {
        static_cast<void>(h);
        return coroutine_env{current_executor(), nullptr, nullptr};
    }
}

// Returns the executor for coroutines that no executor runs. Set before main if the program includes
// executor/run_loop.hpp, which most headers of awaitables include; else null.
using executor_function = executor& (*)();
inline constinit executor_function foreign_executor = nullptr;

// The executor of a coroutine; or the result of `foreign_executor`, if no executor runs the coroutine. The
// coroutine is posted there after a wait for an operation, such as a channel's or a sleep. The end of an
// awaited task, and `schedule`, do not use this function.
// Errors: those of `foreign_executor`; `std::logic_error` if no header has set `foreign_executor`.
inline executor& executor_of(const coroutine_env& env) {
    if (env.executor != nullptr) return *env.executor;
    if (foreign_executor != nullptr) return foreign_executor();
    throw std::logic_error(
        "weir: a coroutine that no executor runs has to wait; include <weir/executor/run_loop.hpp>, or "
        "start it with sync_wait or when_all, or co_await schedule(executor) first");
}

// Returns the object: moved, or copied if T can't be moved; by reference if T is a reference.
template <class T>
T move_or_copy(std::remove_reference_t<T>& object) {
    if constexpr (std::is_reference_v<T> || std::is_move_constructible_v<T>) {
        return static_cast<T&&>(object);
    } else {
        return std::as_const(object);
    }
}

// Throws the exception again. Not inlined, because few calls come here.
[[noreturn]] WEIR_NOINLINE inline void rethrow_now(std::exception_ptr error) {
    std::rethrow_exception(std::move(error));
}

// The result of a coroutine: a value, a reference or an exception.
template <class T>
class result {
    // A reference is kept as a pointer.
    using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;
    static_assert(fits_a_frame<stored>());

  public:
    template <class U>
    void set_value(U&& value) {
        if constexpr (std::is_reference_v<T>) {
            T&& it = static_cast<T>(std::forward<U>(value));
            value_ = &it;
        } else {
            // Copies if T can't be constructed from U&&.
            using from = std::conditional_t<std::is_constructible_v<T, U&&>, U&&, const U&>;
            static_cast<void>(value_.emplace(static_cast<from>(value)));
        }
    }

    void set_exception(std::exception_ptr error) noexcept { error_ = std::move(error); }

    bool has_exception() const noexcept { return error_ != nullptr; }
    std::exception_ptr exception() const noexcept { return error_; }

    T take() {
        if (error_) detail::rethrow_now(std::move(error_));
        if constexpr (std::is_reference_v<T>) {
            return move_or_copy<T>(**value_);
        } else {
            return move_or_copy<T>(*value_);
        }
    }

  private:
    std::optional<stored> value_;
    std::exception_ptr error_;
};

template <>
class result<void> {
  public:
    void set_value() noexcept {}
    void set_exception(std::exception_ptr error) noexcept { error_ = std::move(error); }
    bool has_exception() const noexcept { return error_ != nullptr; }
    std::exception_ptr exception() const noexcept { return error_; }
    void take() {
        if (error_) detail::rethrow_now(std::move(error_));
    }

  private:
    std::exception_ptr error_;
};

}  // namespace weir::detail

#endif
