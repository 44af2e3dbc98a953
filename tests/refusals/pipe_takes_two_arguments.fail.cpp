// expect-error: weir: this stage's function can't be called with what the stage before it gives
// A stage's function is called with one item.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

int add(int a, int b) { return a + b; }

auto sums = weir::source({1, 2, 3}) | weir::pipe(add, {.name = "add"});

int main() {}
