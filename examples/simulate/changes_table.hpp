// simulate: prints what each change would bring as a table.
// The change that brings most is first.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_CHANGES_TABLE_HPP
#define WEIR_EXAMPLES_SIMULATE_CHANGES_TABLE_HPP

#include "explanation.hpp"
#include "request.hpp"

#include <weir/insight/what_if.hpp>
#include <weir/measure/unit_text.hpp>

#include <algorithm>  // for std::max, std::min, std::ranges::sort
#include <cstddef>    // for std::size_t
#include <numeric>    // for std::iota
#include <string>     // for std::string
#include <tuple>      // for std::tuple
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

// Without a limit if no time passes any more.
inline std::string rate_text(double rate) { return rate > 0 ? weir::units::rate(rate) : "no limit"; }

inline std::string gain_text(const weir::predicted_change& of) {
    if (of.rate <= 0) return "no limit";
    const std::string text = weir::units::fixed(100 * of.gain, 1) + " %";
    if (text == "-0.0 %") return "+0.0 %";
    return (text.starts_with('-') ? "" : "+") + text;
}

// The greatest gain first; of equal ones, the first.
inline std::vector<std::size_t> best_first(const std::vector<weir::predicted_change>& all) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&all](std::size_t i) {
        return std::tuple(all[i].rate > 0, -all[i].gain, i);  // without a rate: no limit
    });
    return order;
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
    for (const std::size_t i : order) {
        words.push_back(weir::describe(all.predictions[i].change, asked.from.settings));
        width = std::max(width, words.back().size());
    }
    std::string table = "  " + left("change", width) + right("rate", 12) + right("from", 12) +
                        right("to", 12) + right("gain", 12) + "\n";
    for (std::size_t row = 0; row < order.size(); ++row) {
        const weir::predicted_change& each = all.predictions[order[row]];
        table += "  " + left(words[row], width) + right(rate_text(each.rate), 12) +
                 right(rate_text(each.low), 12) + right(rate_text(each.high), 12) +
                 right(gain_text(each), 12) + "\n";
    }
    return table;
}

}  // namespace simulate

#endif
