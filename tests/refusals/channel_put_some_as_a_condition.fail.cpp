// expect-error: weir: this has not been awaited, so it is neither true nor false
// How many are in is known when the put has been awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <vector>

weir::task<int> fill(weir::channel<int>& numbers, std::vector<int>& some) {
    int times = 0;
    while (numbers.put_some(some)) ++times;
    co_return times;
}

int main() {}
