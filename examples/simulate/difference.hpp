// simulate: the difference between the pipelines of two documents: of two stored runs, or of two specs.
// What can't be compared is refused.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_DIFFERENCE_HPP
#define WEIR_EXAMPLES_SIMULATE_DIFFERENCE_HPP

#include "checked_changes.hpp"
#include "explained.hpp"
#include "explanation.hpp"
#include "request.hpp"

#include <weir/insight/diff.hpp>
#include <weir/insight/recording.hpp>

#include <cmath>      // for std::isfinite
#include <stdexcept>  // for std::invalid_argument

namespace simulate {

namespace detail {

// The times of a spec are exact, also where they are those of a distribution.
inline request exact(request asked) {
    for (weir::recorded_stage& each : asked.from.stages) each.in_sequence = true;
    asked.is_drawn = false;
    asked.changes.clear();
    return asked;
}

// Rates and verdicts are those of explain: of a whole run, if its number of items is given.
inline weir::run_difference difference_of_specs(request before, request after) {
    const explanation first = explained(before), second = explained(after);
    before.from.rate = std::isfinite(first.today.rate) ? first.today.rate : 0;
    after.from.rate = std::isfinite(second.today.rate) ? second.today.rate : 0;
    weir::run_difference all = weir::diff(before.from, after.from, {.explain = false});
    all.verdict_before = first.why.sentence;
    all.verdict_after = second.why.sentence;
    return all;
}

}  // namespace detail

/// \returns the difference, or why there is none: `refused`.
[[nodiscard]] inline weir::run_difference difference_between(const request& before, const request& after) {
    weir::run_difference all;
    try {
        if (before.stored && after.stored) return weir::diff(*before.stored, *after.stored);
        if (before.stored || after.stored) {
            all.refused = "one is a stored run, and the other one a spec";
        } else if (!before.refused.empty() || !after.refused.empty()) {
            all.refused = before.refused.empty() ? after.refused : before.refused;
        } else {
            return detail::difference_of_specs(detail::exact(before), detail::exact(after));
        }
    } catch (const std::invalid_argument& e) {  // a stored run that contradicts itself
        all.refused = detail::without_prefix(e.what());
    }
    return all;
}

}  // namespace simulate

#endif
