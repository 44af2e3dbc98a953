// expect-error: weir: select chooses among on_get(channel), on_put(channel, item), after(duration) and a stop_token
// What ends a select is a token, not its source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

weir::task<> waits(weir::channel<int>& numbers, weir::stop_source& stop) {
    auto done = co_await weir::select(weir::on_get(numbers), stop);
    static_cast<void>(done);
}

int main() {}
