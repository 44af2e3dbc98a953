// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/retry.hpp>

int twice(int n);
double twice(double n);

auto patient = weir::retry(twice, {.attempts = 2});

int main() {}
