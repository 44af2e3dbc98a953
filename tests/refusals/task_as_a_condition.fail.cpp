// expect-error: weir: a task that has not been awaited is neither true nor false
// What a task gives is known when it has been awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

weir::task<bool> is_ready();

weir::task<> waits() {
    if (is_ready()) co_return;
}

int main() {}
