// expect-error: weir: co_await needs an awaitable; this expression is none
// An async_generator awaits what is awaitable, and a number is not.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>

weir::async_generator<int> sizes() { co_yield co_await 3; }

int main() {}
