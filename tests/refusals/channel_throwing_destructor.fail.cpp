// expect-error: weir: the destructor of a channel's items must not throw
// An item may be destroyed where nobody could catch its exception.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

struct fragile {
    ~fragile() noexcept(false) {}
};

int main() { weir::channel<fragile> c(1); }
