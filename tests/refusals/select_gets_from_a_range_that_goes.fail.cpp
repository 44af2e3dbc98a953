// expect-error: weir: on_get(channel) takes from a weir::channel with a name
// Channels that a range owns outlive the select.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

#include <deque>

std::deque<weir::channel<int>> make();

weir::task<> waits() {
    auto done = co_await weir::select(weir::on_get(make()));
    static_cast<void>(done);
}

int main() {}
