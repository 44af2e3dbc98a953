// expect-error: weir: || drops the item of an operation that ends second
// A get that ends as the time is over would have an item that nobody takes.
// SPDX-License-Identifier: BSL-1.0
#include <weir/asio/awaited.hpp>
#include <weir/channel/channel.hpp>

#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(use_awaitable.hpp)
// clang-format off
#include WEIR_ASIO_FILE(experimental/awaitable_operators.hpp)
// clang-format on

namespace lib = weir::asio::lib;
using namespace lib::experimental::awaitable_operators;

lib::awaitable<void> waits(weir::channel<int>& c, lib::steady_timer& soon) {
    co_await (soon.async_wait(lib::use_awaitable) || weir::asio::awaited(c.get()));
}
