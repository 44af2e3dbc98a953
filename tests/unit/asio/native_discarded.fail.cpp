// expect-error: co_await this, or the coroutine doesn't begin
// It begins when it is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/native_awaitable.hpp>

#include <weir/task/task.hpp>

weir::task<> forgets(weir::asio::lib::io_context& io, weir::asio::lib::awaitable<void> it) {
    weir::asio::on(io, std::move(it));
    co_return;
}
