// expect-error: weir: a branch has neither source nor sink, and no for_each
// A branch gives items on.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/branch.hpp>
#include <weir/stages/sink.hpp>

auto part = weir::branch("a", weir::for_each([](int) {}));

int main() {}
