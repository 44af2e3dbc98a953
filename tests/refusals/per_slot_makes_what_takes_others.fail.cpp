// expect-error: weir: this stage's function can't be called with what the stage before it gives
// What the function of per_slot returns is the stage's function, and has to take its items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <string>

auto lengths = weir::source({1, 2, 3}) |
               weir::pipe(weir::per_slot([] { return [](std::string s) { return s.size(); }; }));

int main() {}
