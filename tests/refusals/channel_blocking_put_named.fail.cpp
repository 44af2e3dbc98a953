// expect-error: weir: try_put and blocking_put take rvalues, from which they move if there is room
// What goes in leaves the hands of whoever put it, also where it could be copied.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

bool offer(weir::channel<int>& c, int item) { return c.blocking_put(item) == weir::channel_status::success; }

int main() {}
