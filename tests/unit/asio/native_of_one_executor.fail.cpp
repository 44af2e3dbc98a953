// expect-error: weir: this asio::awaitable runs on one kind of executor only
// Which of Asio's executors a coroutine of ours runs on is known when it runs.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/native_awaitable.hpp>

#include <weir/task/task.hpp>

namespace lib = weir::asio::lib;

weir::task<> awaits(lib::awaitable<int, lib::io_context::executor_type> it) { co_await std::move(it); }
