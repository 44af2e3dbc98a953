// expect-error: weir: the function of a traverse is called with what the stage before it gives and a feeder of that
// A function that takes no feeder is a pipe's.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>

int twice(int n) { return 2 * n; }

auto pipeline = weir::source({1, 2, 3}) | weir::traverse(twice) | weir::sink();

int main() {}
