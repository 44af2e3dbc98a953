// expect-error: weir: sink(n) is a queue of n items for whoever takes them
// What a sink is given is how many items may wait there.
// SPDX-License-Identifier: BSL-1.0
#include <weir/pipeline.hpp>

auto numbers = weir::source({1, 2, 3}) | weir::sink([](int n) { return n; });

int main() {}
