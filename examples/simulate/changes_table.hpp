// simulate: prints what each change would bring as a table.
// The change that brings most is first.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_CHANGES_TABLE_HPP
#define WEIR_EXAMPLES_SIMULATE_CHANGES_TABLE_HPP

#include "explanation.hpp"
#include "request.hpp"
#include "run_length.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/measure/unit_text.hpp>

#include <algorithm>   // for std::max, std::min, std::ranges::stable_sort
#include <cmath>       // for std::isfinite
#include <cstddef>     // for std::size_t
#include <functional>  // for std::ranges::greater
#include <numeric>     // for std::iota
#include <string>      // for std::string
#include <vector>      // for std::vector

namespace simulate {

namespace detail {

// Without a limit if no time passes; 0 if too few items arrive.
inline std::string rate_text(double rate) {
    if (rate <= 0) return "too few";
    return std::isfinite(rate) ? weir::units::rate(rate) : "no limit";
}

inline std::string gain_text(const weir::predicted_change& of) {
    constexpr double great = 1000;
    if (of.rate <= 0) return "too few";
    if (!std::isfinite(of.rate)) return "no limit";
    if (of.gain >= great) return "> 1000-fold";
    const std::string text = weir::units::fixed(100 * of.gain, 1) + " %";
    if (text == "-0.0 %") return "+0.0 %";
    return (text.starts_with('-') ? "" : "+") + text;
}

// The greatest gain first; of equal ones, the first.
inline std::vector<std::size_t> best_first(const std::vector<weir::predicted_change>& all) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&all](std::size_t i) { return all[i].gain; });
    return order;
}

// Whether the consumer gets batches of another size.
inline bool changes_items(const weir::setting_change& change, const weir::recording& from) {
    return change.kind == weir::change_kind::batch_size &&
           elements_per_item(with_change(from.settings, change, from)) != elements_per_item(from.settings);
}

}  // namespace detail

/// \param most  how many rows the table has at most
[[nodiscard]] inline std::string changes_table(const request& asked, const explanation& all,
                                               std::size_t most) {
    using detail::rate_text, detail::gain_text, weir::units::left, weir::units::right;
    std::vector<std::size_t> order = detail::best_first(all.predictions);
    order.resize(std::min(most, order.size()));
    std::vector<std::string> words;
    std::size_t width = 0;
    bool has_other_items = false;
    for (const std::size_t i : order) {
        words.push_back(weir::describe(all.predictions[i].change, asked.from.settings));
        width = std::max(width, words.back().size());
        has_other_items = has_other_items || detail::changes_items(all.predictions[i].change, asked.from);
    }
    std::string table = "  " + left("change", width) + right("rate", 12) + right("from", 12) +
                        right("to", 12) + right("gain", 12) + "\n";
    for (std::size_t row = 0; row < order.size(); ++row) {
        const weir::predicted_change& each = all.predictions[order[row]];
        table += "  " + left(words[row], width) + right(rate_text(each.rate), 12) +
                 right(rate_text(each.low), 12) + right(rate_text(each.high), 12) +
                 right(gain_text(each), 12) + "\n";
    }
    if (has_other_items)
        table += "  The rate counts batches; the gain of other batches counts their elements.\n";
    return table;
}

}  // namespace simulate

#endif
