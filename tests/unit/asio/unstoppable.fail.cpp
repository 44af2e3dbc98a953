// expect-error: weir: this operation of Asio doesn't tell its executor
// A stop is delivered where the operation's handlers run, so that has to be known.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/awaiting.hpp>

#include <weir/task/task.hpp>

weir::task<> waits(weir::stop_token stop) {
    using token = weir::asio::basic_awaiting_unless<false>;
    token unless = weir::asio::awaiting_unless(stop);
    co_await weir::asio::lib::async_initiate<token, void()>([](auto&& then) { then(); }, unless);
}
