// A coroutine that belongs to nobody: it begins at once, and its frame is destroyed when it ends.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_DETACHED_HPP
#define WEIR_TESTS_SUPPORT_DETACHED_HPP

#include <coroutine>
#include <exception>

struct detached {
    struct promise_type {
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

#endif
