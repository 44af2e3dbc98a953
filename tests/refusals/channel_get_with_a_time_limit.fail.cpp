// expect-error: weir: a coroutine's put or get ends early by a stop_token
// Coroutines wait by time with get_for; get takes a stop token.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <optional>

weir::task<int> takes(weir::channel<int>& numbers) {
    const std::optional<int> n = co_await numbers.get(std::chrono::milliseconds(100));
    co_return n.value_or(0);
}

int main() {}
