// expect-error: weir: what stands right of this | is no part of a pipeline
// What makes a stage is called.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto items = weir::source({1, 2}) | weir::sink;

int main() {}
