// expect-error: weir: the function that chooses a branch is called with a const item of the stage before
// The chooser sees a const item.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>

int change(int& n) { return ++n; }

auto routed = weir::source({1, 2}) | weir::route(change, weir::branch("a"), weir::branch("b")) | weir::sink();

int main() {}
