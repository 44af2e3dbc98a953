// weir platform, internal: what a coroutine inherits from the one that awaits it
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

// What asks the work of a stage's function to end. `work`: for whose work: see `trampoline::is_work_of`.
struct end_token {
    const basic_stop_token<standard_platform>* stop;
    const void* work = nullptr;
};

// `executor`: where the coroutine runs and is posted to when it wakes; null: nowhere in particular.
// `measured`: the slot of a stage that this coroutine does the work of; null: none.
// `ends`: asks what this coroutine waits for to end, as the run of its stage was stopped; null: nobody does.
struct coroutine_env {
    weir::executor* executor = nullptr;
    slot* measured = nullptr;
    const end_token* ends = nullptr;
};

template <class Promise>
concept has_env = requires(Promise& p) {
    { p.env() } -> std::same_as<coroutine_env&>;
};

// For whose work a coroutine does: see `trampoline::is_work_of`.
inline const void* whose_work(const end_token* ends) noexcept {
    return ends != nullptr ? ends->work : nullptr;
}

// The executor whose work this thread does now; null outside of one. Not inlined: see WEIR_NOINLINE.
WEIR_NOINLINE inline executor*& current_executor() noexcept {
    struct per_thread {
        executor* here = nullptr;
    };
    return standard_platform::of_thread<per_thread>().here;
}

// A promise of another library that knows where its coroutine belongs.
template <class Promise>
concept names_executor = requires(Promise& p) {
    { p.weir_executor() } -> std::same_as<executor&>;
};

// The environment of any coroutine: its promise's if that is one of ours; else the executor that the promise
// names, or the thread's. May be a reference into its frame: not to be read once somebody may resume it.
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

// Gives the executor of those that no other one runs. Set by task/foreign_executor.hpp, which is included by
// all that waits for something.
using executor_of_strangers = executor& (*)();
inline constinit executor_of_strangers foreign_executor = nullptr;

// Where a coroutine is posted to when it wakes. Whatever suspends one asks this, and so all do the same.
// Errors: those of `weir_executor()`.
inline executor& executor_of(const coroutine_env& env) {
    if (env.executor != nullptr) return *env.executor;
    if (foreign_executor != nullptr) return foreign_executor();
    throw std::logic_error(
        "weir: a coroutine that no executor runs has to wait; include <weir/task/foreign_executor.hpp>, "
        "start it "
        "with "
        "sync_wait or when_all, or co_await schedule(executor) first");
}

}  // namespace weir::detail

#endif
