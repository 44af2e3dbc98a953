// expect-error: a generator does nothing until it is iterated
// A generator that nobody iterates does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

weir::generator<int> give() { co_yield 1; }

void ask() { give(); }

int main() {}
