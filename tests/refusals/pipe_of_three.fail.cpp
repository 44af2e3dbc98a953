// expect-error: weir: a pipe takes a function and options, and no third argument
// Where it was composed is no argument: the options know.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe.hpp>

int twice(int n);

void use() { weir::pipe(twice, {.name = "twice"}, std::source_location::current()); }

int main() {}
