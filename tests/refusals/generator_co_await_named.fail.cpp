// expect-error: weir: a generator can't co_await
// A generator can't wait, for what has a name neither.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>
#include <weir/task/task.hpp>

weir::generator<int> give(weir::task<int>& number) {
    co_await number;
    co_yield 1;
}

int main() {}
