// expect-error: weir: when_all needs awaitables, or a vector of them; an argument is none
// What is awaited is what a coroutine function returns, not the function.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

weir::task<> wait() { co_return; }

weir::task<> wait_twice() { co_await weir::when_all(wait(), wait); }

int main() {}
