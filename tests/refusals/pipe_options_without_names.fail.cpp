// expect-error: weir: a stage's options are given by their names
// A stage has many options, so a number of slots is one option of several.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe.hpp>

int twice(int n);

auto s = weir::pipe(twice, 4);

int main() {}
