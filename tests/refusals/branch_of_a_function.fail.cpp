// expect-error: weir: a branch is made of a stage, or of several put together by |
// A function becomes a stage by weir::pipe.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/branch.hpp>

int twice(int n) { return 2 * n; }

auto doubled = weir::branch("doubled", twice);

int main() {}
