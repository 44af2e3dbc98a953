// expect-error: weir: a plain loop can't wait for an async_generator; in a coroutine write while (auto x = co_await generator.next())
// A plain loop has no co_await between its steps.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>
#include <weir/task/task.hpp>

weir::async_generator<int> count();

weir::task<int> sum() {
    int all = 0;
    for (int n : count()) all += n;
    co_return all;
}

int main() {}
