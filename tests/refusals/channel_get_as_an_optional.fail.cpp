// expect-error: weir: this has not been awaited, so it is neither true nor false, nor an item
// There is no item before the get has been awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

int take(weir::channel<int>& numbers) { return *numbers.get(); }

int main() {}
