// expect-error: weir: a task gives one result: co_return it
// What gives many items is a generator.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

weir::task<int> give() {
    co_yield 1;
    co_return 2;
}

int main() {}
