// expect-error: weir: split divides containers with push_back
// A split divides containers.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/split.hpp>

auto parts = weir::source({1, 2}) |
             weir::split([](int n) { return n % 2; }, weir::branch("a"), weir::branch("b")) | weir::sink();

int main() {}
