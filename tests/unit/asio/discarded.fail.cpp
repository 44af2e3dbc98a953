// expect-error: co_await this, or the operation doesn't begin
// An operation begins when it is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/awaiting.hpp>

#include <weir/task/task.hpp>

weir::task<> forgets() {
    weir::asio::lib::async_initiate<decltype(weir::asio::awaiting), void()>([](auto&& then) { then(); },
                                                                            weir::asio::awaiting);
    co_return;
}
