// expect-error: If it is a coroutine function, call it
// A coroutine function is called before it is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

weir::task<int> give() { co_return 1; }
weir::task<int> waits() { co_return co_await give; }

int main() { const auto t = waits(); }
