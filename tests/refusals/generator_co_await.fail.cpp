// expect-error: weir: a generator can't co_await
// The consumer of a generator is a plain loop, which can't wait.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

weir::generator<int> waits() {
    co_await std::suspend_always();
    co_yield 1;
}

int main() { return *waits().begin(); }
