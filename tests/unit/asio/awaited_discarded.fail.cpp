// expect-error: co_await this, or nothing is awaited
// It begins when it is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/awaited.hpp>

#include <weir/task/sleep.hpp>

weir::asio::lib::awaitable<void> forgets() {
    weir::asio::awaited(weir::yield());
    co_return;
}
