// expect-error: weir: the function that chooses a branch is called with a const item of the stage before
// The chooser takes what the stage before the route gives.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>

#include <cstddef>
#include <string>

std::size_t length(const std::string& text) { return text.size(); }

auto routed = weir::source({1, 2}) | weir::route(length, weir::branch("a"), weir::branch("b")) | weir::sink();

int main() {}
