// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>
#include <weir/stages/pipe.hpp>

int which(int n);
int which(double n);
int twice(int n);

auto by_kind = weir::route(which, weir::branch("all", weir::pipe(twice)));

int main() {}
