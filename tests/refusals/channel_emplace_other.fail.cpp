// expect-error: weir: emplace makes an item of what it is given, and this channel's can't be made of that
// What is given to emplace has to make one of the channel's items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <string>

struct item {
    std::string name;
    int count;
};

weir::task<> fill(weir::channel<item>& items) { co_await items.emplace(3, "three"); }

int main() {}
