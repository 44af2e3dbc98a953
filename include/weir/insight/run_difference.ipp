// weir insight, internal: bodies of the functions of insight/run_difference.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RUN_DIFFERENCE_IPP
#define WEIR_INSIGHT_RUN_DIFFERENCE_IPP

#include <weir/insight/run_difference.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

namespace weir {

namespace detail {

WEIR_INLINE std::string signed_percent(double share) {
    const std::string size = units::fixed(100 * larger(share, -share), 1);
    return (share < 0 && size != "0.0" ? "-" : "+") + size + " %";
}

WEIR_INLINE std::string time_text(const stage_difference& d) {
    return concat({"'", d.stage, "' takes "}) + units::fixed(100 * larger(d.change, -d.change), 1) + " % " +
           (d.change < 0 ? "less time" : "longer") + " (" + signed_percent(d.interval.low) + " to " +
           signed_percent(d.interval.high) + ")" + (d.is_typical ? " by the geometric mean" : "") + ": " +
           units::time(d.after) + " instead of " + units::time(d.before);
}

WEIR_INLINE std::string failures_text(const stage_difference& d) {
    return concat({"'", d.stage, "' fails "}) + (d.failed_after > d.failed_before ? "more" : "less") +
           " often: " + units::percent(d.failed_after) + " of the invocations instead of " +
           units::percent(d.failed_before);
}

WEIR_INLINE std::string rate_text(const run_difference& d) {
    return units::rate(d.rate_after) + " instead of " + units::rate(d.rate_before) + " (" +
           signed_percent(d.rate_after / d.rate_before - 1) + ")";
}

WEIR_INLINE std::string detectable_text(const run_difference& d) {
    std::string text;
    std::string too_few;
    for (const stage_difference& each : d.stages) {
        const std::string count = each.is_exact ? "known exactly"
                                                : units::count(each.num_before) + " and " +
                                                      units::count(each.num_after) + " invocations";
        if (!each.detectable) {
            too_few += concat({"too few to compare: '", each.stage, "', ", count}) + "\n";
        } else {
            text += concat({"  '", each.stage, "': "}) + units::fixed(100 * *each.detectable, 1) + " % (" +
                    count + ")\n";
        }
    }
    if (!text.empty())
        text = "in 95 of 100 cases, runs as long as these show a change of a time by at least:\n" + text;
    return text + too_few;
}

WEIR_INLINE std::string state_text(const state_difference& d) {
    std::string text = concat({"  '", d.stage, "' "}) + d.state + ": " + units::percent(d.after) +
                       " of its slots' time instead of " + units::percent(d.before);
    if (d.change) {
        text +=
            " (" + signed_percent(d.change->low) + " to " + signed_percent(d.change->high) + " of the time)";
    }
    return text + "\n";
}

}  // namespace detail

WEIR_INLINE bool run_difference::has_difference() const noexcept {
    bool any = rate_changed || !settings.empty();
    for (const stage_difference& each : stages) any = any || each.has_changed || each.failures_changed;
    return any;
}

WEIR_INLINE std::string run_difference::sentence() const {
    if (!refused.empty()) return "the runs can't be compared: " + refused;
    std::string text;
    const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    for (const stage_difference& each : stages) {
        if (each.has_changed) add(detail::time_text(each));
        if (each.failures_changed) add(detail::failures_text(each));
    }
    for (const std::string& each : settings) add(each);
    if (rate_changed) add("the rate is " + detail::rate_text(*this));
    return text.empty() ? "no difference was seen" : text;
}

WEIR_INLINE std::string run_difference::text() const {
    std::string text = sentence() + "\n";
    if (!refused.empty()) return text;
    if (rate_before > 0 && rate_after > 0) text += "rate: " + detail::rate_text(*this) + "\n";
    if (!states.empty()) text += "states:\n";
    for (const state_difference& each : states) text += detail::state_text(each);
    if (!verdict_before.empty()) text += "verdict before: " + verdict_before + "\n";
    if (!verdict_after.empty()) text += "verdict after: " + verdict_after + "\n";
    return text + detail::detectable_text(*this);
}

}  // namespace weir

#endif
