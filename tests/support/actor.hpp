// A coroutine whose frame a test holds.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_ACTOR_HPP
#define WEIR_TESTS_SUPPORT_ACTOR_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>

#include <coroutine>
#include <exception>
#include <utility>

// A coroutine that the test starts and may destroy while it waits.
struct actor {
    struct promise_type {
        actor get_return_object() noexcept {
            return actor(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        weir::detail::coroutine_env& env() noexcept { return env_; }
        weir::detail::coroutine_env env_;
    };
    explicit actor(std::coroutine_handle<promise_type> h) noexcept : handle(h) {}
    actor(actor&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    actor& operator=(actor&& other) noexcept {
        std::swap(handle, other.handle);
        return *this;
    }
    ~actor() { destroy(); }
    void destroy() {
        if (handle) std::exchange(handle, nullptr).destroy();
    }
    void start(weir::executor& ex) {
        handle.promise().env().executor = &ex;
        ex.post(handle);
    }
    bool ended() const noexcept { return handle.done(); }
    std::coroutine_handle<promise_type> handle;
};

#endif
