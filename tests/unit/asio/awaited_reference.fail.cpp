// expect-error: weir: an asio::awaitable gives values, and awaiting this gives a reference
// A coroutine of Asio's has no place for one.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/awaited.hpp>

#include <weir/task/task.hpp>

weir::task<int&> gives(int& n) { co_return n; }
void awaits(int& n) { static_cast<void>(weir::asio::awaited(gives(n))); }
