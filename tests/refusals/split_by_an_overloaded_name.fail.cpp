// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/branch.hpp>
#include <weir/graph/split.hpp>

int which(int n);
int which(double n);

auto by_kind = weir::split(which, weir::branch("all"));

int main() {}
