// expect-error: Did you forget to call the coroutine function?
// A coroutine function is called to get something to wait for, with an executor, too.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

weir::task<int> give() { co_return 1; }

int wait_on(weir::thread_pool& pool) { return weir::sync_wait(pool, give); }

int main() {}
