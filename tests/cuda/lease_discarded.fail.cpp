// expect-error: the block goes back at once
// A block that nobody keeps is given back before it is used.
// SPDX-License-Identifier: BSL-1.0
#include <weir/cuda/pinned_pool.hpp>

weir::cuda::lease some();

void forgets() { some(); }

int main() {}
