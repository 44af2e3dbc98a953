// expect-error: weir: try_put and blocking_put take rvalues, from which they move if there is room
// What goes in leaves the hands of whoever put it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <memory>

bool offer(weir::channel<std::unique_ptr<int>>& c, std::unique_ptr<int> item) {
    return c.try_put(item) == weir::channel_status::success;
}

int main() {}
