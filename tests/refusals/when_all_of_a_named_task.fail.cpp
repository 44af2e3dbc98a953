// expect-error: weir: when_all needs awaitables, or a vector of them; an argument is none. If it is a coroutine function, call it; if it is a task with a name, or a vector of tasks, it gives its results away
// A task gives its result away, so that it is moved.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

weir::task<> wait() { co_return; }

weir::task<> wait_twice() {
    weir::task<> first = wait();
    co_await weir::when_all(first, wait());
}

int main() {}
