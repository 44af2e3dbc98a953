// The pipeline of the consumer, for both of its translation units.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CONSUMER_SQUARES_HPP
#define WEIR_CONSUMER_SQUARES_HPP

#include <weir/weir.hpp>

#include <ranges>  // for std::views::iota
#include <vector>  // for std::vector

inline int square(int x) { return x * x; }

inline int sum(const std::vector<int>& numbers) {
    int total = 0;
    for (const int n : numbers) total += n;
    return total;
}

inline auto squares() {
    return weir::source(std::views::iota(1, 101)) | weir::pipe(square, {.name = "square", .concurrency = 2}) |
           weir::aggregate(4) | weir::pipe(sum, {.name = "sum"}) | weir::sink(3);
}

int sum_on_threads();

#endif
