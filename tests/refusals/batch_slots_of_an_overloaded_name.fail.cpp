// expect-error: weir: which function is meant can't be told from its name
// The name of a function with overloads is no function.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/pipeline.hpp>

#include <span>

void write_to(int n, std::span<int> place);
void write_to(long n, std::span<int> place);
int main() {
    weir::block_pool blocks(64, 2);
    static_cast<void>(weir::batch_slots<int>(blocks, {.places = 2}, write_to));
}
