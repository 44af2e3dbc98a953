// expect-error: weir: co_await needs an awaitable; this expression is none
// A stage's coroutine awaits what is awaitable, and the item that it is given is not.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/task/task.hpp>

auto numbers = weir::source({1, 2}) | weir::pipe([](int n) -> weir::task<int> { co_return co_await n; });

int main() {}
