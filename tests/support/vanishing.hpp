// A coroutine of which nothing is left as soon as it was posted.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_VANISHING_HPP
#define WEIR_TESTS_SUPPORT_VANISHING_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>

#include <coroutine>
#include <cstddef>
#include <cstring>
#include <exception>

// Resumes within post(), as a thread of a pool does that is faster than the one that posts.
class runs_within_post : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override {
        ++posted;
        h.resume();
    }
    void add(weir::timer&) noexcept override { std::terminate(); }
    void cancel(weir::timer&) noexcept override { std::terminate(); }
    bool drive(flag&, weir::time_point) override { return false; }

    int posted = 0;
};

// Runs at once. When it has ended, its frame holds nothing but zeros: who still reads its environment finds
// no executor, and who resumes it crashes.
struct vanishing {
    struct promise_type {
        explicit promise_type(weir::executor& ex) noexcept { env_.executor = &ex; }
        // g++ passes a lambda's object first, as the standard says; clang 19 does not.
        promise_type(const auto&, weir::executor& ex) noexcept : promise_type(ex) {}
        vanishing get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        weir::detail::coroutine_env& env() noexcept { return env_; }

        static void* operator new(std::size_t size) noexcept {
            return size <= sizeof memory ? memory : nullptr;
        }
        static vanishing get_return_object_on_allocation_failure() { std::terminate(); }
        static void operator delete(void* p, std::size_t size) noexcept { std::memset(p, 0, size); }

      private:
        alignas(std::max_align_t) static inline unsigned char memory[4096];
        weir::detail::coroutine_env env_;
    };
};

#endif
