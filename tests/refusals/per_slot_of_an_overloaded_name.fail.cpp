// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe_function.hpp>

int (*make())(int);
int (*make(int))(int);

auto decoders = weir::per_slot(make);

int main() {}
