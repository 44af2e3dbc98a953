// expect-error: weir: behind its chooser a route has branches, one or more, each of them a weir::branch(name, part)
// A branch has a name.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>

auto parts = weir::source({1, 2}) |
             weir::route([](int n) { return n % 2; }, weir::pipe([](auto i) { return i; })) | weir::sink();

int main() {}
