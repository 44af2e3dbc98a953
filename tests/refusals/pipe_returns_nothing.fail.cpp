// expect-error: weir: a stage's function has to give an item to the next stage; this one gives nothing
// A stage's function gives the item for the next stage.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto forget = weir::source({1, 2, 3}) | weir::pipe([](int) {}) | weir::sink();

int main() {}
