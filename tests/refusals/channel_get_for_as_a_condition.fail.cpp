// expect-error: weir: this has not been awaited, so it is neither true nor false
// A get has a result when it was awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <chrono>

weir::task<> takes(weir::channel<int>& numbers) {
    if (numbers.get_for(std::chrono::milliseconds(100))) numbers.close();
    co_return;
}

int main() {}
