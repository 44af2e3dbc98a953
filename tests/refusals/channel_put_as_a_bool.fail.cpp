// expect-error: weir: this has not been awaited, so it is neither true nor false, nor an item
// A plain function can't wait as a coroutine does.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

bool give(weir::channel<int>& numbers) {
    const bool taken = numbers.put(1);
    return taken;
}

int main() {}
