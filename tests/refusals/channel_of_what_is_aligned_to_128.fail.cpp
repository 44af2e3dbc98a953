// expect-error: weir: items and results may be aligned to 64 bytes
// A frame of a coroutine is aligned to 64 bytes.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

struct alignas(128) wide {
    int number = 0;
};

weir::channel<wide> items(1);

int main() {}
