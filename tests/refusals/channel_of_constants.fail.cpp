// expect-error: weir: a channel's items are objects that move in and out
// Constants can't move.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

weir::channel<const int> numbers(1);

int main() {}
