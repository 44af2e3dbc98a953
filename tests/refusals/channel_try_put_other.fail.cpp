// expect-error: weir: this channel takes no Item: it is neither a T nor implicitly convertible to T
// What is put is of the channel's type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <string>

bool offer(weir::channel<int>& c) { return c.try_put(std::string("one")) == weir::channel_status::success; }

int main() {}
