// expect-error: weir: nothing can come after a sink
// A sink is the end of a pipeline.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto beyond = weir::pipe([](int n) { return n; }) | weir::sink() | weir::aggregate(3);

int main() {}
