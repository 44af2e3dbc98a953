// expect-error: weir: when_any doesn't take an operation that moves an item
// A get that ends as the time is over would have an item that nobody takes.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_any.hpp>

weir::task<> waits(weir::channel<int>& c) {
    co_await weir::when_any(c.get(), weir::sleep_for(weir::duration(5)));
}

int main() {}
