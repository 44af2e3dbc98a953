// expect-error: weir: split divides containers with push_back
// The branches of a split give containers.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/split.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/flat_map.hpp>

auto parts = weir::source({1, 2}) | weir::aggregate(2) |
             weir::split([](int n) { return n % 2; }, weir::branch("a", weir::disaggregate())) | weir::sink();

int main() {}
