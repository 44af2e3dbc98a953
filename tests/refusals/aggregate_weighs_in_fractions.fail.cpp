// expect-error: weir: what weighs the items of an aggregate is called with each item as a constant
// Weights are integers: 0.5 would count as 0, so that a batch of clips of half a second is never full.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

struct clip {
    double seconds;
};

int main() {
    auto p = weir::source({clip{0.5}}) |
             weir::aggregate_by_weight(8, [](const clip& c) { return c.seconds; }) | weir::sink();
}
