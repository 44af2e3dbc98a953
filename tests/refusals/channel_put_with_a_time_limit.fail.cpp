// expect-error: weir: a coroutine's put or get ends early by a stop_token
// Coroutines wait by time with put_for; put takes a stop token.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <chrono>

weir::task<bool> gives(weir::channel<int>& numbers) {
    const bool taken = co_await numbers.put(1, std::chrono::milliseconds(100));
    co_return taken;
}

int main() {}
