// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

int twice(int n);
double twice(double n);

auto numbers = weir::source({1, 2}) | weir::pipe(twice, {.concurrency = 2});

int main() {}
