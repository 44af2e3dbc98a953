// expect-error: weir: this channel takes no Item: it is neither a T nor implicitly convertible to T
// What is put is of the channel's type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <string>

weir::task<> fill(weir::channel<int>& numbers) { co_await numbers.put(std::string("one")); }

int main() {}
