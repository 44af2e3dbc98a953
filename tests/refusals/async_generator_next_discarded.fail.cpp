// expect-error: co_await this, or nothing happens
// Asking for the next item is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>
#include <weir/task/task.hpp>

weir::task<> ask(weir::async_generator<int>& numbers) {
    numbers.next();
    co_return;
}

int main() {}
