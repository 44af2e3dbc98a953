// simulate: writes the answer of diff as JSON.
// One object for each pair of runs.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_DIFFERENCE_TEXT_HPP
#define WEIR_EXAMPLES_SIMULATE_DIFFERENCE_TEXT_HPP

#include <weir/insight/diff.hpp>

#include <nlohmann/json.hpp>

namespace simulate {

namespace detail {

inline nlohmann::ordered_json stage_json(const weir::stage_difference& d) {
    nlohmann::ordered_json text{{"stage", d.stage},
                                {"changed", d.has_changed},
                                {"mean", d.is_typical ? "geometric" : "arithmetic"},
                                {"before_ns", d.before.count()},
                                {"after_ns", d.after.count()},
                                {"change", d.change},
                                {"low", d.interval.low},
                                {"high", d.interval.high},
                                {"num_before", d.num_before},
                                {"num_after", d.num_after},
                                {"detectable", nullptr},
                                {"failures_changed", d.failures_changed},
                                {"failed_before", d.failed_before},
                                {"failed_after", d.failed_after}};
    if (d.detectable) text["detectable"] = *d.detectable;
    return text;
}

inline nlohmann::ordered_json state_json(const weir::state_difference& d) {
    nlohmann::ordered_json text{{"stage", d.stage}, {"state", d.state}, {"before", d.before},
                                {"after", d.after}, {"low", nullptr},   {"high", nullptr}};
    if (d.change) text["low"] = d.change->low;
    if (d.change) text["high"] = d.change->high;
    return text;
}

}  // namespace detail

/// \returns one object: sentence, changed, refused, settings, stages, states, rate, verdict.
[[nodiscard]] inline nlohmann::ordered_json to_json(const weir::run_difference& d) {
    nlohmann::ordered_json text{{"sentence", d.sentence()},
                                {"changed", d.has_difference()},
                                {"refused", nullptr},
                                {"settings", d.settings},
                                {"stages", nlohmann::ordered_json::array()},
                                {"states", nlohmann::ordered_json::array()}};
    if (!d.refused.empty()) text["refused"] = d.refused;
    for (const weir::stage_difference& each : d.stages) text["stages"].push_back(detail::stage_json(each));
    for (const weir::state_difference& each : d.states) text["states"].push_back(detail::state_json(each));
    text["rate"] = {{"before", d.rate_before}, {"after", d.rate_after}, {"changed", d.rate_changed}};
    text["verdict"] = {{"before", d.verdict_before}, {"after", d.verdict_after}};
    return text;
}

}  // namespace simulate

#endif
