// simulate: answers what explain and what_if are asked: the cause, and what each change would bring.
// The cause is always that of the usual changes, also if others are asked for.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPLAINED_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPLAINED_HPP

#include "change_text.hpp"
#include "changes.hpp"
#include "checked_changes.hpp"
#include "explanation.hpp"
#include "request.hpp"
#include "run_length.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/verdict.hpp>

#include <algorithm>   // for std::ranges::any_of, std::ranges::find, std::ranges::sort
#include <functional>  // for std::ranges::greater
#include <stdexcept>   // for std::invalid_argument
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace simulate {

namespace detail {

inline void add_predictions(explanation& all, const request& asked, weir::what_if_options how) {
    for (const change& each : asked.changes) how.changes.push_back(each.what);
    const std::vector<weir::predicted_change> predicted = weir::what_if(asked.from, how).changes;
    for (const change& each : asked.changes) {
        all.predictions.push_back(*std::ranges::find(predicted, each.what, &weir::predicted_change::change));
        all.changes.push_back(each.text);
    }
}

inline bool has_other_batches(const explanation& all) {
    return std::ranges::any_of(all.predictions, [](const weir::predicted_change& each) {
        return each.change.kind == weir::change_kind::batch_size;
    });
}

inline explanation answered(const request& asked) {
    explanation all;
    const run_lengths lengths = run_length(asked);
    const weir::what_if_options how{.simulation = lengths.repeated};
    weir::what_if_result usual = weir::what_if(asked.from, how);
    all.why = asked.stored ? weir::explain(*asked.stored) : weir::judge(usual, asked.from);
    all.today = std::move(usual.today);
    if (all.refused = usual.refused; !all.refused.empty()) return all;
    if (asked.changes.empty()) {
        all.predictions = std::move(usual.changes);
    } else {
        add_predictions(all, asked, how);
    }
    const weir::predict_options longest = lengths.longer.value_or(lengths.repeated);
    if (lengths.longer || (asked.from.settings.num_items && has_other_batches(all)))
        refine(all, asked, longest);
    find_unlimited(all, asked, longest);
    if (!asked.changes.empty()) return all;
    std::ranges::sort(all.predictions, std::ranges::greater(), &weir::predicted_change::gain);
    for (const weir::predicted_change& each : all.predictions)
        all.changes.push_back(simulate::to_json(each.change));
    return all;
}

}  // namespace detail

/// Predicts what is asked. Errors: `std::bad_alloc`.
[[nodiscard]] inline explanation explained(const request& asked) {
    explanation all;
    all.refused = asked.refused;
    try {
        if (all.refused.empty()) return detail::answered(asked);
    } catch (const std::invalid_argument& e) {
        all.refused = detail::without_prefix(e.what());
    }
    if (asked.stored) {  // its states may tell
        all.why = weir::explain(*asked.stored);
    } else {
        all.why.sentence = "not sure why it is not faster: " + all.refused;
    }
    return all;
}

}  // namespace simulate

#endif
