// expect-error: weir: a task_group runs its tasks on an executor that outlives it
// A pool without a name is gone before the first task begins.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/task/task_group.hpp>

void index_all() { weir::task_group group(weir::thread_pool(2)); }

int main() {}
