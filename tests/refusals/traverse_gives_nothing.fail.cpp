// expect-error: weir::for_each(f) or weir::traverse_each(f), at the end in place of the sink
// What stands in the middle has to give something on.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>

void visit(int n, weir::feeder<int>& more) {
    if (n > 0) more.add(n - 1);
}

auto pipeline = weir::source({1, 2, 3}) | weir::traverse(visit) | weir::sink();

int main() {}
