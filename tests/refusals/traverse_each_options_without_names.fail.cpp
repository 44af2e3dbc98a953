// expect-error: weir: a stage's options are given by their names, and this is none
// A number alone says nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>

void visit(int n, weir::feeder<int>& more);

auto end = weir::traverse_each(visit, 4);

int main() {}
