// expect-error: weir: epochs needs a function that gives a range or a generator
// A generator is for one pass; a function that gives one is for many.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/epochs.hpp>

#include <weir/task/generator.hpp>

weir::generator<int> numbers() { co_yield 1; }

auto twice = weir::source(weir::epochs(numbers(), 2));

int main() {}
