// simulate: the source of a simulated pipeline.
// It gives a stream, or epochs.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SOURCE_HPP
#define WEIR_EXAMPLES_SIMULATE_SOURCE_HPP

#include "item.hpp"

#include <weir/stages/epochs.hpp>
#include <weir/stages/source.hpp>

#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <ranges>    // for std::views::iota, std::views::transform
#include <string>    // for std::string

namespace simulate {

namespace detail {

template <bool HasEpochs>
auto source(const std::string& name, std::optional<std::uint64_t> items, std::uint64_t epochs) {
    if constexpr (HasEpochs) {
        const auto epoch = [n = *items] {
            return std::views::iota(std::uint64_t{0}, n) |
                   std::views::transform([](std::uint64_t) { return item(); });
        };
        return weir::source(weir::epochs(epoch, epochs), {.name = name});
    } else {
        const auto next_item = [left = items]() mutable -> std::optional<item> {
            if (left && (*left)-- == 0) return std::nullopt;
            return item();
        };
        return weir::source(next_item, {.name = name});
    }
}

}  // namespace detail

}  // namespace simulate

#endif
