// expect-error: weir: this stage's function can't be called with what the stage before it gives
// What a stage's function takes is what the stage before it gives.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <string>

int length(std::string text) { return static_cast<int>(text.size()); }

auto lengths = weir::source({1, 2, 3}) | weir::pipe(length, {.name = "length"});

int main() {}
