// expect-error: co_await this, or nobody waits for the tasks
// A join is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task_group.hpp>

weir::task<> finish(weir::task_group& group) {
    group.join();
    co_return;
}

int main() {}
