// expect-error: co_await this, or nothing of it runs
// What is not awaited does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

weir::task<> wait() { co_return; }

void wait_twice() { weir::when_all(wait(), wait()); }

int main() {}
