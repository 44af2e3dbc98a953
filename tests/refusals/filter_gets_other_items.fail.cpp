// expect-error: weir: a filter's predicate is called with the item as a constant, and can't be
// A predicate looks at the items of the stage before it, and doesn't change them.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>

auto kept = weir::source({1, 2, 3}) | weir::filter([](int& n) { return ++n > 2; }) | weir::sink();

int main() {}
