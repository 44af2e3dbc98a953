// expect-error: weir: an item is given away to a stage's function, and this one takes it by T&
// An item is given away to the stage's function, which can't take it by a reference that is not const.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto next = weir::source({1, 2, 3}) | weir::pipe([](int& n) { return ++n; }) | weir::sink();

int main() {}
