// expect-error: weir: merge is given pipelines, one or more; an argument is none
// A container becomes a source by weir::source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

#include <vector>

auto all = weir::merge(weir::source({1, 2}), std::vector<int>{3, 4}) | weir::sink();

int main() {}
