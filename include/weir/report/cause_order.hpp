// weir report, internal: of things that need each other, how far each is from what began it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_CAUSE_ORDER_HPP
#define WEIR_REPORT_CAUSE_ORDER_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>  // for std::size_t
#include <vector>   // for std::vector

namespace weir::detail {

// `needs[i]`: those of which one has to go on before `i` can.
//
// \returns for each 0 if it needs none, or if all that it leads to lead back to it; else over how many
//          steps it leads to one of those.
inline std::vector<std::size_t> steps_to_cause(const std::vector<std::vector<std::size_t>>& needs) {
    constexpr auto unknown = static_cast<std::size_t>(-1);
    const std::size_t n = needs.size();
    std::vector<std::vector<std::size_t>> needed_by(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::size_t k : needs[i]) needed_by[k].push_back(i);
    }
    std::vector<std::size_t> steps(n, unknown);
    std::vector<std::size_t> known;
    const auto is_cause = [&](std::size_t i) {
        steps[i] = 0;
        known.push_back(i);
    };
    const auto spread = [&] {
        for (std::size_t next = 0; next < known.size(); ++next) {
            for (const std::size_t i : needed_by[known[next]]) {
                if (steps[i] != unknown) continue;
                steps[i] = steps[known[next]] + 1;
                known.push_back(i);
            }
        }
        known.clear();
    };

    for (std::size_t i = 0; i < n; ++i) {
        if (needs[i].empty()) is_cause(i);
    }
    spread();

    // The others lead into circles.
    std::vector<std::vector<bool>> leads_to(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (steps[i] != unknown) continue;
        leads_to[i].resize(n);
        std::vector<std::size_t> open{i};
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            for (const std::size_t k : needs[at]) {
                if (leads_to[i][k]) continue;
                leads_to[i][k] = true;
                open.push_back(k);
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        bool cause = steps[i] == unknown;
        for (std::size_t k = 0; cause && k < n; ++k) cause = !leads_to[i][k] || leads_to[k][i];
        if (cause) is_cause(i);
    }
    spread();
    return steps;
}

}  // namespace weir::detail

#endif
