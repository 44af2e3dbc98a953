// expect-error: weir: get_some moves items into objects that are there, so they must be assignable by a move
// Items that can't be assigned come one by one.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <span>

struct fixed {
    const int value;
};

weir::task<> drain(weir::channel<fixed>& items, std::span<fixed> into) { co_await items.get_some(into); }

int main() {}
