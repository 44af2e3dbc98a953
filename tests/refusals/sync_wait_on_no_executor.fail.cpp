// expect-error: weir: sync_wait(executor, awaitable) runs on an executor
// The executor comes first.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

weir::task<int> answer() { co_return 42; }

int waits() { return weir::sync_wait(3, answer()); }
