// expect-error: co_await this, or the coroutine stays where it is
// Moving to an executor is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor.hpp>
#include <weir/task.hpp>

weir::task<> move_to(weir::executor& other) {
    weir::schedule{other};
    co_return;
}

int main() {}
