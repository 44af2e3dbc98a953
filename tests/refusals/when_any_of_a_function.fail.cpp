// expect-error: weir: when_any needs awaitables, or a vector of them
// A coroutine function has to be called.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_any.hpp>

weir::task<int> one();

weir::task<> waits() { co_await weir::when_any(one(), one); }

int main() {}
