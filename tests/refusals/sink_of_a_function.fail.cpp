// expect-error: weir: a sink takes a capacity and calls no function: weir::for_each(f)
// What acts on each item at the end is a for_each.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto wrong = weir::source({1, 2, 3}) | weir::sink([](int) {});

int main() {}
