// expect-error: weir: a generator yields objects or references to them
// Functions are given as pointers.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

weir::generator<int()> give();

auto given = give();

int main() {}
