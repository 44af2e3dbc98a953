// expect-error: weir: what is put into a channel has to be one of its items, or to become one by itself
// What is put is of the channel's type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <string>

bool offer(weir::channel<int>& c) { return c.try_put(std::string("one")) == weir::channel_status::success; }

int main() {}
