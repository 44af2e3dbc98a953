// expect-error: weir: put_some and get_some move the items of a std::span<T>
// What is put is moved from, so it must not be constant.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <vector>

weir::task<> fill(weir::channel<int>& numbers, const std::vector<int>& some) {
    co_await numbers.put_some(some);
}

int main() {}
