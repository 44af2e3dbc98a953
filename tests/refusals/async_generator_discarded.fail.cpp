// expect-error: await next(), or nothing of it runs
// A generator that nobody asks does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>

weir::async_generator<int> give() { co_yield 1; }

void ask() { give(); }

int main() {}
