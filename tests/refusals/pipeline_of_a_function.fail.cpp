// expect-error: weir: what stands right of this | is no part of a pipeline
// A function becomes a stage by weir::pipe.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

int twice(int n) { return 2 * n; }

auto doubled = weir::source({1, 2}) | twice | weir::sink();

int main() {}
