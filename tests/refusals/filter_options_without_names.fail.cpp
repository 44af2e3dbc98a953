// expect-error: weir: a stage's options are given by their names
// A stage has many options, so a name is one option of several.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/filter.hpp>

bool is_odd(int n);

auto odd = weir::filter(is_odd, "odd");

int main() {}
