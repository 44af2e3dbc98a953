// expect-error: weir: co_await needs an awaitable; this expression is none
// A task awaits what is awaitable, and a number is not.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

weir::task<int> waits() { co_return co_await 1; }

int main() { const auto t = waits(); }
