// simulate: the answer of explain and what_if as a value.
// Its rates can be made more exact by longer runs.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPLANATION_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPLANATION_HPP

#include "request.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/verdict.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>  // for std::max
#include <cstdint>    // for std::uint64_t
#include <limits>     // for std::numeric_limits
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace simulate {

/// Why a pipeline is not faster, and the effect of changes. If no time passes, a rate is infinite; if too few
/// items arrive, it is 0.
struct explanation {
    weir::verdict why;
    weir::prediction today;
    // Of the given changes, in their order; else of the usual ones, the greatest gain first. And their JSON.
    std::vector<weir::predicted_change> predictions;
    std::vector<nlohmann::ordered_json> changes;
    std::string refused;  // why there are none; empty: there are
};

namespace detail {

// Replaces rates by those of runs of another length; the widths of the intervals remain, as shares. Of a run that ends,
// the first tenth of its own items is skipped: with other batches, the consumer gets another number.
inline void refine(explanation& all, const request& asked, weir::predict_options how) {
    how.resamples = 0;
    const auto factor = [&](const weir::pipeline_settings& settings, double rate) {
        weir::predict_options own = how;
        if (settings.num_items) {
            own.skipped = 1;
            own.skipped = std::max<std::uint64_t>(1, weir::predict(settings, asked.from, own).num_items / 10);
        }
        return rate > 0 ? weir::predict(settings, asked.from, own).rate / rate : 1;
    };
    const double today = factor(asked.from.settings, all.today.rate);
    all.today.rate *= today;
    for (weir::predicted_change& each : all.predictions) {
        const double other = factor(with_change(asked.from.settings, each.change, asked.from), each.rate);
        for (double* const rate : {&each.rate, &each.low, &each.high}) *rate *= other;
        each.gain = (1 + each.gain) * other / today - 1;
    }
}

// Makes rates infinite if no time passes, which counts as 1 ns in a prediction.
inline void find_unlimited(explanation& all, const request& asked, weir::predict_options how) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    constexpr double per_second = 1e9;  // items that come 1 ns apart
    how.resamples = 0;
    const auto is_unlimited = [&](const weir::pipeline_settings& settings, double rate) {
        if (rate < per_second) return false;
        const weir::prediction again = weir::predict(settings, asked.from, how);
        return again.rate >= static_cast<double>(again.num_items - how.skipped) * per_second;
    };
    const bool today = is_unlimited(asked.from.settings, all.today.rate);
    if (today) all.today.rate = infinite;
    for (weir::predicted_change& each : all.predictions) {
        if (!is_unlimited(with_change(asked.from.settings, each.change, asked.from), each.rate)) continue;
        each.rate = each.low = each.high = infinite;
        if (!today) each.gain = infinite;
    }
}

}  // namespace detail

}  // namespace simulate

#endif
