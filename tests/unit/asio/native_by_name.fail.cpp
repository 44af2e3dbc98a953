// expect-error: weir: an asio::awaitable with a name gives its result away: co_await std::move(it)
// As a task, it is awaited once.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/native_awaitable.hpp>

#include <weir/task/task.hpp>

weir::task<> awaits(weir::asio::lib::awaitable<int> it) { co_await it; }
