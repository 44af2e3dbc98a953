// expect-error: weir: this has not been awaited, so it is neither true nor false
// Whether an item came is known when the get has been awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

weir::task<int> sum(weir::channel<int>& numbers) {
    int all = 0;
    while (auto n = numbers.get()) all += 1;
    co_return all;
}

int main() {}
