// expect-error: weir: a split's function that chooses for a whole batch returns a range
// One choice for all elements would be a route.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/split.hpp>
#include <weir/stages/aggregate.hpp>

#include <vector>

int first(const std::vector<int>& batch) { return batch.front(); }

auto parts = weir::source({1, 2}) | weir::aggregate(2) |
             weir::split(first, weir::branch("a"), weir::branch("b")) | weir::sink();

int main() {}
