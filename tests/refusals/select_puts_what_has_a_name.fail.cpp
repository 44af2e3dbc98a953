// expect-error: weir: on_put(channel, item) takes a weir::channel with a name
// What can't be copied is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

#include <memory>

auto gives(weir::channel<std::unique_ptr<int>>& boxes, std::unique_ptr<int>& mine) {
    return weir::on_put(boxes, mine);
}

int main() {}
