// expect-error: weir: put copies an lvalue or a constant, and this channel's items can't be copied
// A named item that can't be copied is put by std::move.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>

void gives(weir::channel<std::unique_ptr<int>>& boxes) {
    auto item = std::make_unique<int>(1);
    static_cast<void>(boxes.put_for(item, std::chrono::milliseconds(100)));
}

int main() {}
