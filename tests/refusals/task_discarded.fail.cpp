// expect-error: co_await this task, or nothing of it runs
// A task that is not awaited does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

weir::task<int> give() { co_return 1; }

int main() { give(); }
