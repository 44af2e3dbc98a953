// expect-error: weir: what weighs the items of an aggregate is called with each item as a constant
// What weighs is called with the items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/aggregate.hpp>
#include <weir/stages/pipeline.hpp>

#include <string>

auto batches = weir::source({1, 2}) |
               weir::aggregate_by_weight(8, [](const std::string& s) { return s.size(); }) | weir::sink();

int main() {}
