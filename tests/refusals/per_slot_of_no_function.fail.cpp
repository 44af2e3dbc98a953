// expect-error: weir: per_slot needs a function without parameters that returns the stage's function
// What is given to per_slot is called once for each slot.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto same = weir::pipe(weir::per_slot([](int n) { return n; }));

int main() {}
