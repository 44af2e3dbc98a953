// expect-error: weir: this has not been awaited, so it is neither true nor false
// Whether an item went in is known when the put has been awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

weir::task<> give(weir::channel<int>& numbers) {
    if (!numbers.put(1)) co_return;
    numbers.close();
}

int main() {}
