// expect-error: co_await this, or nothing of it runs
// Without co_await nothing is started.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_any.hpp>

weir::task<int> one();

void waits() { weir::when_any(one(), one()); }

int main() {}
