// expect-error: weir: a channel's items are objects that move in and out
// References can't move.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

weir::channel<int&> numbers(1);

int main() {}
