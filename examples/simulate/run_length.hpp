// simulate: how long a prediction simulates a pipeline.
// A run that ends is simulated as a whole, unless it is very long.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_RUN_LENGTH_HPP
#define WEIR_EXAMPLES_SIMULATE_RUN_LENGTH_HPP

#include "request.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>

#include <algorithm>  // for std::max, std::min
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::nullopt, std::optional
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string

namespace simulate {

/// How to predict what is asked.
struct run_lengths {
    weir::predict_options repeated;  // with repetitions for the intervals, if times are drawn
    std::optional<weir::predict_options>
        longer;  // for rates, if `repeated` has few batches; without repetitions
};

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

// The number of items that the consumer gets at most.
inline std::uint64_t longest_run(const request& asked) {
    const weir::pipeline_settings& settings = asked.from.settings;
    const std::uint64_t in_turn = settings.num_items ? most_items : items_in_turn;
    const std::uint64_t items = asked.is_drawn ? items_of_draws : in_turn;
    return std::max(fewest_items, std::min(items, most_elements / elements_per_item(settings)));
}

// The least number of items that the consumer gets, today and with each of the given changes.
inline std::uint64_t fewest_consumed(const request& asked, std::uint64_t longest) {
    const weir::pipeline_settings& settings = asked.from.settings;
    if (!settings.num_items) return longest;
    const weir::predict_options how{.items = longest, .skipped = 1};
    std::uint64_t fewest = weir::predict(settings, asked.from, how).num_items;
    for (const change& each : asked.changes) {
        const weir::pipeline_settings changed = weir::with_change(settings, each.what, asked.from);
        fewest = std::min(fewest, weir::predict(changed, asked.from, how).num_items);
    }
    return fewest;
}

}  // namespace detail

/// \returns how to predict what is asked. The first tenth of the items is not part of the rate.
/// Errors: `std::invalid_argument` if too few items arrive.
[[nodiscard]] inline run_lengths run_length(const request& asked) {
    const std::uint64_t longest = detail::longest_run(asked);
    const std::uint64_t consumed = detail::fewest_consumed(asked, longest);
    if (consumed < 2) {
        throw std::invalid_argument("too few items: the consumer gets " + std::to_string(consumed) +
                                    ", and a rate needs at least 2");
    }
    const auto of = [consumed](std::uint64_t items) {
        return weir::predict_options{.items = items,
                                     .skipped = std::max<std::uint64_t>(1, std::min(items, consumed) / 10)};
    };
    if (!asked.is_drawn) return {of(longest), std::nullopt};
    const std::uint64_t elements = detail::elements_per_item(asked.from.settings);
    const std::uint64_t often = std::max(detail::fewest_items, detail::items_of_draws / elements);
    run_lengths all{of(std::min(longest, often)), std::nullopt};
    all.repeated.resamples = 20;
    if (std::min(longest, consumed) > often) all.longer = of(longest);
    return all;
}

}  // namespace simulate

#endif
