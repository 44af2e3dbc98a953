// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/filter.hpp>

bool is_odd(int n);
bool is_odd(long n);

auto odd = weir::filter(is_odd);

int main() {}
