// expect-error: weir: the function that chooses a branch returns its name or its place
// A chooser returns a branch's name, or its place.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>

enum class side { left, right };

side side_of(int n) { return n < 0 ? side::left : side::right; }

auto routed =
    weir::source({1, 2}) | weir::route(side_of, weir::branch("a"), weir::branch("b")) | weir::sink();

int main() {}
