// expect-error: weir: a branch has neither source nor sink, and no for_each: it stands between two stages
// A branch has no sink.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/branch.hpp>

auto part = weir::branch("a", weir::pipe([](int n) { return n; }) | weir::sink());

int main() {}
