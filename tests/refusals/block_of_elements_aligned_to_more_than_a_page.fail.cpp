// expect-error: weir: a block of a block_pool begins at a page
// The address of the first element would be wrong.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/block_pool.hpp>

struct alignas(8192) sector {
    char bytes[8192];
};

int main() {
    weir::block_pool pool(sizeof(sector), 2);
    return pool.try_acquire<sector>(1).has_value() ? 0 : 1;
}
