// expect-error: co_await this, or nothing is yielded
// A yield is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

weir::task<> let_others() {
    weir::yield();
    co_return;
}

int main() {}
