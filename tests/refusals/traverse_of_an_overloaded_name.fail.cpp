// expect-error: weir: which function is meant can't be told from its name
// The name of a function with overloads is no function.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>

int visit(int n, weir::feeder<int>& more);
long visit(long n, weir::feeder<long>& more);

auto pipeline = weir::source({1, 2, 3}) | weir::traverse(visit) | weir::sink();

int main() {}
