// expect-error: Did you forget to call the coroutine function?
// A coroutine function is called before its task is waited for.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

weir::task<int> give() { co_return 1; }

int main() { weir::sync_wait(give); }
