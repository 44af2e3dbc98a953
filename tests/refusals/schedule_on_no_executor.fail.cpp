// expect-error: weir: schedule moves a coroutine to an executor that outlives it
// A coroutine goes to an executor, not to a number of threads.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/task/task.hpp>

weir::task<> move() { co_await weir::schedule(4); }

int main() {}
