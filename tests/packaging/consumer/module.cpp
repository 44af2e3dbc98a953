// A program that imports weir. Its other translation unit includes the headers: both mean the same things.
// SPDX-License-Identifier: BSL-1.0
#include <iostream>  // for std::cout
#include <ranges>    // for std::views::iota

import weir;

int sum_on_threads();

int main() {
    auto pipeline =
        weir::source(std::views::iota(1, 101)) | weir::pipe([](int x) { return x * x; }) | weir::sink(3);
    weir::virtual_time time;
    auto run = pipeline.start(time);
    int total = 0;
    while (const auto n = run.get()) total += *n;
    std::cout << run.stats() << total << ", and " << sum_on_threads() << " on threads\n";
    return total == 338350 && sum_on_threads() == total ? 0 : 1;
}
