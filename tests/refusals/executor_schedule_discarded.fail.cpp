// expect-error: co_await this, or the coroutine stays where it is
// Moving to an executor is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/task/task.hpp>

weir::task<> move_to(weir::executor& other) {
    weir::schedule{other};
    co_return;
}

int main() {}
