// expect-error: weir: a channel's items must be movable without throwing
// An item whose move may throw could get lost between two places.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

struct fragile {
    fragile() = default;
    fragile(fragile&&) noexcept(false) {}
};

int main() { weir::channel<fragile> c(1); }
