// A coroutine as small as can be. (The library's tasks count their transfers for each thread of the system,
// of which all threads of a model are one.)
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MODELS_JOB_HPP
#define WEIR_TESTS_MODELS_JOB_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>

#include <coroutine>
#include <cstdlib>
#include <utility>

namespace models {

class job {
  public:
    struct promise_type {
        weir::detail::coroutine_env of_it;
        weir::detail::coroutine_env& env() { return of_it; }
        job get_return_object() { return job(handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
    using handle = std::coroutine_handle<promise_type>;

    explicit job(handle h) : handle_(h) {}
    job(job&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    job& operator=(job&&) = delete;
    ~job() {
        if (handle_) handle_.destroy();
    }

    // Belongs to that executor from now on.
    std::coroutine_handle<> on(weir::executor& home) {
        handle_.promise().of_it.executor = &home;
        return handle_;
    }
    bool is_done() const { return handle_.done(); }

  private:
    handle handle_;
};

}  // namespace models

#endif
