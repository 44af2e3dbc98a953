// expect-error: weir: a stage's options are given by their names, and this is none
// A number alone says nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/pipeline.hpp>

#include <span>

int main() {
    weir::block_pool blocks(64, 2);
    const auto write = [](int n, std::span<int> place) { place[0] = n; };
    static_cast<void>(weir::batch_slots<int>(blocks, {.places = 2}, write, 4));
}
