// What every way of getting weir has to build: a pipeline that runs, from two translation units.
// SPDX-License-Identifier: BSL-1.0
#include <cstdio>  // for std::printf

#include "squares.hpp"

int main() {
    weir::virtual_time time;
    auto run = squares().start(time);
    int total = 0;
    while (const auto n = run.get()) total += *n;
    std::printf("weir %d.%d.%d: %d, and %d on threads\n", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR,
                WEIR_VERSION_PATCH, total, sum_on_threads());
    return total == 338350 && sum_on_threads() == total ? 0 : 1;
}
