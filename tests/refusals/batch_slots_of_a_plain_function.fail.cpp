// expect-error: weir: the function of a batch_slots<T> is called with what the stage before it gives and the place for it
// A function that takes no place is a pipe's.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::block_pool blocks(64, 2);
    const auto pipeline = weir::source({1, 2}) |
                          weir::batch_slots<int>(blocks, {.places = 2}, [](int n) { return n; }) |
                          weir::sink();
}
