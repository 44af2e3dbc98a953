// simulate: writes the answer of explain and what_if as JSON.
// One object for each pipeline.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPLANATION_TEXT_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPLANATION_TEXT_HPP

#include "explanation.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/verdict.hpp>

#include <nlohmann/json.hpp>

#include <cmath>    // for std::isfinite
#include <cstddef>  // for std::size_t

namespace simulate {

namespace detail {

// Null: no rate, as no time passes or too few items arrive.
inline nlohmann::ordered_json rate_or_null(double rate) {
    if (rate > 0 && std::isfinite(rate)) return rate;
    return nullptr;
}

}  // namespace detail

/// \returns one object: cause, stage, sure, predictions, refused.
[[nodiscard]] inline nlohmann::ordered_json to_json(const explanation& all) {
    nlohmann::ordered_json text{{"cause", weir::name_of(all.why.cause)},
                                {"stage", nullptr},
                                {"sure", all.why.sure}};
    if (!all.why.stage.empty()) text["stage"] = all.why.stage;
    text["predictions"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < all.predictions.size(); ++i) {
        const weir::predicted_change& p = all.predictions[i];
        text["predictions"].push_back({{"change", all.changes[i]},
                                       {"rate", detail::rate_or_null(p.rate)},
                                       {"low", detail::rate_or_null(p.low)},
                                       {"high", detail::rate_or_null(p.high)}});
    }
    text["refused"] = nullptr;
    if (!all.refused.empty()) text["refused"] = all.refused;
    return text;
}

}  // namespace simulate

#endif
