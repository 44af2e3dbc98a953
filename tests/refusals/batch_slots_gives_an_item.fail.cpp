// expect-error: weir: the function of a batch_slots writes its result into the place, and returns nothing, or a bool
// What the function returns would be lost.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/pipeline.hpp>

#include <span>

int main() {
    weir::block_pool blocks(64, 2);
    const auto pipeline =
        weir::source({1, 2}) |
        weir::batch_slots<int>(blocks, {.places = 2}, [](int n, std::span<int>) { return n; }) | weir::sink();
}
