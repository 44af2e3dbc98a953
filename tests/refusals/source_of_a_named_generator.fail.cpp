// expect-error: weir: a stage copies an lvalue, and this one can't be copied
// A generator has one consumer, to whom it is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>
#include <weir/task/generator.hpp>

weir::generator<int> count();

auto numbers = count();
auto all = weir::source(numbers);

int main() {}
