// simulate: how long a prediction simulates a pipeline.
// A run that ends is simulated as a whole, unless it is very long.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_RUN_LENGTH_HPP
#define WEIR_EXAMPLES_SIMULATE_RUN_LENGTH_HPP

#include "request.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/settings.hpp>
#include <weir/insight/what_if.hpp>

#include <algorithm>  // for std::max, std::min
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::nullopt, std::optional
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string

namespace simulate {

namespace detail {

// The number of items of the source in one that the consumer gets.
inline std::uint64_t elements_per_item(const weir::pipeline_settings& settings) {
    return static_cast<std::uint64_t>(weir::detail::elements_per_item(settings));
}

inline constexpr std::uint64_t items_of_draws = 20'000;  // then rates are right to 1 %
inline constexpr std::uint64_t items_in_turn = 4'000;
inline constexpr std::uint64_t most_items = 100'000;
inline constexpr std::uint64_t fewest_items = 20;
inline constexpr std::uint64_t most_elements = 1'000'000;

}  // namespace detail

/// \returns how to predict what is asked. The first tenth of the items is not part of the rate.
/// Errors: `std::invalid_argument` if too few items arrive.
[[nodiscard]] inline weir::predict_options run_length(const request& asked) {
    const weir::pipeline_settings& settings = asked.from.settings;
    const bool ends = settings.num_items.has_value();
    std::uint64_t items = asked.is_drawn ? detail::items_of_draws : detail::items_in_turn;
    if (ends) items = detail::most_items;
    items = std::max(detail::fewest_items, items / detail::elements_per_item(settings));
    weir::predict_options how{.items = items, .skipped = 1};
    std::uint64_t fewest = items;
    if (ends) {
        fewest = weir::predict(settings, asked.from, how).num_items;
        for (const change& each : asked.changes) {
            const weir::pipeline_settings changed = weir::with_change(settings, each.what, asked.from);
            fewest = std::min(fewest, weir::predict(changed, asked.from, how).num_items);
        }
    }
    if (fewest < 2) {
        throw std::invalid_argument("too few items: the consumer gets " + std::to_string(fewest) +
                                    ", and a rate needs at least 2");
    }
    how.skipped = std::max<std::uint64_t>(1, fewest / 10);
    how.resamples = asked.is_drawn ? 20 : 0;
    return how;
}

/// \returns how to predict rates once more, without intervals, if items at the end are batches of drawn times: then
///          `run_length` has few of them. Else nothing.
[[nodiscard]] inline std::optional<weir::predict_options> longer_run(const request& asked) {
    const std::uint64_t elements = detail::elements_per_item(asked.from.settings);
    if (!asked.is_drawn || elements == 1 || asked.from.settings.num_items) return std::nullopt;
    const std::uint64_t items = std::min(detail::items_of_draws, detail::most_elements / elements);
    const std::uint64_t enough = std::max(detail::fewest_items, items);
    return weir::predict_options{.items = enough, .skipped = enough / 10};
}

}  // namespace simulate

#endif
