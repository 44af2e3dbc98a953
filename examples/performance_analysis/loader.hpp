// performance_analysis: the stages of the loader, as in the production pipeline of the guide: downloads in groups of
// eight, preparation one by one, batches of four, a copy to a device.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_PERFORMANCE_ANALYSIS_LOADER_HPP
#define WEIR_EXAMPLES_PERFORMANCE_ANALYSIS_LOADER_HPP

#include "server.hpp"

#include <weir/weir.hpp>

#include <chrono>   // for std::chrono::milliseconds
#include <cstdint>  // for std::uint64_t
#include <ranges>   // for std::views::iota
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace performance_analysis {

/// Work for a processor, proportional to the number of bytes.
inline std::uint64_t prepared(const std::string& page) {
    std::uint64_t sum = 0;
    for (int round = 0; round < 20; ++round) {
        for (const char c : page) sum = sum * 31 + static_cast<unsigned char>(c);
    }
    return sum;
}

inline std::uint64_t collated(const std::vector<std::uint64_t>& items) {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : items) sum += each;
    return sum;
}

/// \returns a loader of everything that the server has. Lifetime: the server outlives it.
inline auto loader_of(server& from) {
    const auto download = [&from](std::vector<int> numbers) -> weir::task<std::vector<std::string>> {
        std::vector<weir::task<std::string>> all;
        for (const int n : numbers) all.push_back(from.get("/" + std::to_string(n)));
        auto pages = co_await weir::when_all(std::move(all));
        co_return pages;
    };
    const auto transfer = [](std::uint64_t batch) -> weir::task<std::uint64_t> {
        co_await weir::sleep_for(std::chrono::milliseconds(2));  // stands for a copy to a device
        co_return batch;
    };
    // clang-format off
    return weir::source(std::views::iota(0))
         | weir::aggregate(8)
         | weir::pipe(download, {.name = "download", .concurrency = 12})
         | weir::disaggregate()
         | weir::pipe(prepared, {.name = "preprocess", .concurrency = 12})
         | weir::aggregate(4)
         | weir::pipe(collated, {.name = "collate"})
         | weir::pipe(transfer, {.name = "transfer"})
         | weir::sink(2);
    // clang-format on
}

}  // namespace performance_analysis

#endif
