// expect-error: weir: select chooses among on_get(channel), on_put(channel, item), after(duration) and a stop_token, and an argument is none
// What is done with a channel has to be said.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

weir::task<> chooses(weir::channel<int>& a, weir::channel<int>& b) {
    co_await weir::select(weir::on_get(a), b);
}

int main() {}
