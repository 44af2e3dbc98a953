// expect-error: weir: a pooled_block holds elements that need neither constructor nor destructor
// The bytes of a block are no strings.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/block_pool.hpp>

#include <string>

int main() {
    weir::block_pool blocks(64, 2);
    static_cast<void>(blocks.try_acquire<std::string>(1));
}
