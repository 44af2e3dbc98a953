// expect-error: weir: this stage's function can't be called with what the stage before it gives
// A stage's function takes the item, or the item and then the call.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto numbers = weir::source({1, 2, 3}) | weir::pipe([](const weir::invocation& call, int n) {
                   return static_cast<int>(call.item()) + n;
               });

int main() {}
