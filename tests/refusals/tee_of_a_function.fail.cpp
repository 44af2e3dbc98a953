// expect-error: weir: the side of a tee is made of a stage, or of several put together by |
// A function becomes a stage by weir::pipe.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/tee.hpp>

void show(int);

auto shown = weir::source({1, 2}) | weir::tee(show) | weir::sink();

int main() {}
