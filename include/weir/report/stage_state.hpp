// weir report, internal: the states of a stage's slots, in the words and the order of pictures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STAGE_STATE_HPP
#define WEIR_REPORT_STAGE_STATE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/line.hpp>

#include <string>  // for std::string

namespace weir::detail {

// The one with the most time; of equals the first.
[[nodiscard]] inline const state_in_reports& chief_state(const slot_times& t) {
    const state_in_reports* most = &states_in_reports.back();
    for (auto s = states_in_reports.rbegin(); s != states_in_reports.rend(); ++s) {
        if (t.*(s->time) >= t.*(most->time)) most = &*s;
    }
    return t.total() <= duration(0) ? states_in_reports.back() : *most;
}

// `83 % starved, 17 % at work`: those that there are.
[[nodiscard]] inline std::string states_text(const slot_times& t) {
    std::string text;
    for (const state_in_reports& s : states_in_reports) {
        if (t.*(s.time) <= duration(0)) continue;
        text += (text.empty() ? "" : ", ") + units::percent(share_of(t.*(s.time), t.total())) + " " + s.is;
    }
    return text.empty() ? "no time has passed" : text;
}

}  // namespace weir::detail

#endif
