// expect-error: if it is a task with a name, it gives its result away: co_await std::move(it)
// A task has one result, so that only a temporary or a moved one can be awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

weir::task<int> give() { co_return 1; }
weir::task<int> waits() {
    auto t = give();
    co_return co_await t;
}

int main() { const auto t = waits(); }
