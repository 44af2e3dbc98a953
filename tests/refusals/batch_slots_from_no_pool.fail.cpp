// expect-error: weir: batch_slots<T> takes its blocks from a pool that has try_acquire<T>(n) and acquire<T>(n, stop)
// A vector is no pool.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/pipeline.hpp>

#include <span>
#include <vector>

int main() {
    std::vector<int> blocks;
    const auto write = [](int n, std::span<int> place) { place[0] = n; };
    static_cast<void>(weir::batch_slots<int>(blocks, {.places = 2}, write));
}
