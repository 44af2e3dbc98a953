// expect-error: weir: nothing can come after a sink
// A pipeline has one sink, at its end.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto twice = weir::source({1, 2, 3}) | weir::sink() | weir::sink();

int main() {}
