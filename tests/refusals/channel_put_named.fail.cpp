// expect-error: weir: put copies an lvalue or a constant, and this channel's items can't be copied
// A named item that can't be copied is put by std::move.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <memory>

int main() {
    weir::channel<std::unique_ptr<int>> c(1);
    auto item = std::make_unique<int>(1);
    c.put(item);
}
