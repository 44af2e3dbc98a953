// expect-error: a retry has {.attempts = 5, .delay = 100ms}
// A retry has many options, so a number of attempts is one of several.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/retry.hpp>

int twice(int n);

auto again = weir::retry(twice, 5);

int main() {}
