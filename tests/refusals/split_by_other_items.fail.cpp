// expect-error: weir: the function that chooses a branch is called with a const item
// The chooser of a split takes the elements of the batches.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/split.hpp>
#include <weir/stages/aggregate.hpp>

#include <cstddef>
#include <string>

std::size_t length(const std::string& text) { return text.size(); }

auto parts = weir::source({1, 2}) | weir::aggregate(2) |
             weir::split(length, weir::branch("a"), weir::branch("b")) | weir::sink();

int main() {}
