// expect-error: weir: what stands left of this | is no part of a pipeline
// A container becomes a source by weir::source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <vector>

int twice(int n) { return 2 * n; }

auto doubled = std::vector<int>{1, 2} | weir::pipe(twice) | weir::sink();

int main() {}
