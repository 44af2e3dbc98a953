// expect-error: weir: the side of a tee has neither source nor sink
// What the side of a tee gives is dropped, so it has no sink.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/tee.hpp>

auto copied =
    weir::source({1, 2}) | weir::tee(weir::pipe([](int n) { return n; }) | weir::sink()) | weir::sink();

int main() {}
