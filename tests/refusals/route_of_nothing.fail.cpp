// expect-error: weir: behind its chooser a route has branches, one or more
// A route has somewhere to go.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>

auto parts = weir::source({1, 2}) | weir::route([](int n) { return n % 2; }) | weir::sink();

int main() {}
