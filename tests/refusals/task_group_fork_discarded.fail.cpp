// expect-error: co_await this, or nothing is started
// A fork is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task_group.hpp>

weir::task<> work() { co_return; }

weir::task<> start(weir::task_group& group) {
    group.fork(work());
    co_return;
}

int main() {}
