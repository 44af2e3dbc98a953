// expect-error: weir: get_for and put_for wait for a duration, 100ms; get_until and put_until until a weir::time_point of the executor
// Until when a get waits is an instant.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <chrono>

weir::task<int> takes(weir::channel<int>& numbers) {
    const auto n = co_await numbers.get_until(std::chrono::milliseconds(100));
    co_return n ? *n : 0;
}

int main() {}
