// The second translation unit, which runs the pipeline on threads.
// SPDX-License-Identifier: BSL-1.0
#include "squares.hpp"

int sum_on_threads() {
    weir::thread_pool pool(2);
    auto run = squares().start(pool);
    int total = 0;
    for (const int n : run) total += n;
    return total;
}
