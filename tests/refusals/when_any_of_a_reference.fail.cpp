// expect-error: weir: when_all and when_any would give a reference that may be into an awaitable
// What is referred to has to outlive the result.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_any.hpp>

#include <coroutine>

struct lends {
    bool await_ready() const { return true; }
    void await_suspend(std::coroutine_handle<>) const {}
    int& await_resume() { return n; }
    int n = 0;
};

weir::task<> waits() { co_await weir::when_any(lends()); }

int main() {}
