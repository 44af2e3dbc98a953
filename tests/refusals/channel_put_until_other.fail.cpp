// expect-error: weir: what is put into a channel has to be one of its items, or to become one by itself
// What is put is of the channel's type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <string>

void gives(weir::channel<int>& numbers, weir::time_point until) {
    static_cast<void>(numbers.put_until(std::string("one"), until));
}

int main() {}
