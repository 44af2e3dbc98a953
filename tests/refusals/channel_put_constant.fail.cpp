// expect-error: weir: put copies an lvalue or a constant, and this channel's items can't be copied
// A constant item that can't be copied can't be put either: nothing may be moved out of it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <memory>
#include <utility>

int main() {
    weir::channel<std::unique_ptr<int>> c(1);
    const auto item = std::make_unique<int>(1);
    c.put(std::move(item));
}
