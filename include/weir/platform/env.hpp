// weir platform, internal: the environment that a coroutine inherits from the coroutine that awaits it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_ENV_HPP
#define WEIR_PLATFORM_ENV_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <concepts>   // for std::same_as
#include <coroutine>  // for std::coroutine_handle
#include <stdexcept>  // for std::logic_error

namespace weir {
class executor;
template <class Platform>
class basic_stop_token;
}  // namespace weir

namespace weir::detail {

class slot;
struct standard_platform;

// Asks a stage's function to end early. `work`: the run that it works for: see `trampoline::is_work_of`.
struct end_token {
    const basic_stop_token<standard_platform>* stop;
    const void* work = nullptr;
};

// `executor`: where the coroutine runs and is posted to after a wait; null: none.
// `measured`: the stage's slot of whose function this coroutine is a part; null: none.
// `ends`: ends the waits of this coroutine, when the run of its stage is stopped or the time limit of the
// task is over; null: none.
struct coroutine_env {
    weir::executor* executor = nullptr;
    slot* measured = nullptr;
    const end_token* ends = nullptr;
};

template <class Promise>
concept has_env = requires(Promise& p) {
    { p.env() } -> std::same_as<coroutine_env&>;
};

// The run that a coroutine works for: see `trampoline::is_work_of`.
inline const void* whose_work(const end_token* ends) noexcept {
    return ends != nullptr ? ends->work : nullptr;
}

// The executor whose coroutine this thread runs now, or null. Not inlined: see WEIR_NOINLINE.
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

// The environment of any coroutine: that of its promise, if this library defines it; otherwise the executor
// that the promise names, or the thread's. May be a reference into the coroutine frame: not to be read once
// another thread may resume the coroutine.
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

// Returns the executor for coroutines that no executor runs. Set by executor/run_loop.hpp, which every
// awaitable of the library includes.
using executor_function = executor& (*)();
inline constinit executor_function foreign_executor = nullptr;

// The executor to which a coroutine is posted after a wait. All awaitables use this function.
// Errors: those of `weir_executor()`.
inline executor& executor_of(const coroutine_env& env) {
    if (env.executor != nullptr) return *env.executor;
    if (foreign_executor != nullptr) return foreign_executor();
    throw std::logic_error(
        "weir: a coroutine that no executor runs has to wait; include <weir/executor/run_loop.hpp>, or "
        "start it with sync_wait or when_all, or co_await schedule(executor) first");
}

}  // namespace weir::detail

#endif
