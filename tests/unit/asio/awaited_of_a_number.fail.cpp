// expect-error: weir: weir::asio::awaited needs something that a coroutine of weir can await
// A number is no awaitable.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/awaited.hpp>

weir::asio::lib::awaitable<void> awaits() { co_await weir::asio::awaited(1); }
