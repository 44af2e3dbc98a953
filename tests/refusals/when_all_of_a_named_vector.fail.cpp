// expect-error: weir: when_all needs awaitables, or a vector of them; an argument is none. If it is a coroutine function, call it; if it is a task with a name, or a vector of tasks, it gives its results away
// Tasks run once, so that a vector of them is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <vector>

weir::task<int> all(std::vector<weir::task<int>> parts) {
    const auto results = co_await weir::when_all(parts);
    co_return results.front();
}

int main() {}
