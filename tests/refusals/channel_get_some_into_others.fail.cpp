// expect-error: weir: put_some and get_some move the items of a std::span<T>
// What is got is of the channel's type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <vector>

weir::task<> drain(weir::channel<int>& numbers, std::vector<long>& into) { co_await numbers.get_some(into); }

int main() {}
