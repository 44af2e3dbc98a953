// expect-error: weir: a source can only come first
// A source takes no items, so it can only come first.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto two = weir::source({1, 2, 3}) | weir::source({4, 5, 6}) | weir::sink();

int main() {}
