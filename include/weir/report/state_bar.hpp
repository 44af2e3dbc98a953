// weir report, internal: where the time of a stage's slots went, as a bar of strokes in a picture
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STATE_BAR_HPP
#define WEIR_REPORT_STATE_BAR_HPP

#include <weir/measure/stats.hpp>
#include <weir/report/stage_state.hpp>

#include <cmath>   // for std::lround
#include <string>  // for std::string

namespace weir::detail {

// The shares as strokes behind each other, `width` long from `x` on, at the height `y`.
[[nodiscard]] inline std::string state_bar(const slot_times& t, long x, long y, long width) {
    std::string out;
    double begin = 0;
    for (const state_in_reports& s : states_in_reports) {
        const auto edge = [&](double at) { return x + std::lround(at * static_cast<double>(width)); };
        const long from = edge(begin);
        begin += share_of(t.*(s.time), t.total());
        if (edge(begin) == from) continue;
        out += "<path class=\"st-" + std::string(s.name) + "\" d=\"M" + std::to_string(from) + " " +
               std::to_string(y) + "h" + std::to_string(edge(begin) - from) + "\"/>";
    }
    return out;
}

}  // namespace weir::detail

#endif
