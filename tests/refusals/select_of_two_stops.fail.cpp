// expect-error: weir: a select is stopped by one token at most
// One token ends a select.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

weir::task<> waits(weir::channel<int>& numbers, weir::stop_token a, weir::stop_token b) {
    auto done = co_await weir::select(weir::on_get(numbers), a, b);
    static_cast<void>(done);
}

int main() {}
