// weir report, internal: bodies of the functions of report/deadlock_report.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DEADLOCK_REPORT_IPP
#define WEIR_REPORT_DEADLOCK_REPORT_IPP

#include <weir/report/deadlock_report.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::find
#include <sstream>    // for std::ostringstream
#include <utility>    // for std::move

namespace weir {

WEIR_INLINE std::string deadlock_report::text() const {
    detail::wait_lines lines;
    for (const stuck_wait& w : waits) {
        lines.add({w.who, w.stage, w.where, w.at, w.what, "; " + why(w)});
    }
    return std::string("weir: deadlock: ") + (waits.size() == 1 ? "this wait" : "these waits") +
           " can't end any more" + (partial ? ", though others go on:" : ":") + lines.text(max_lines);
}

WEIR_INLINE std::string deadlock_report::why(const stuck_wait& w) const {
    if (w.by_anyone) {
        return w.at.empty() ? "nobody is left who could end that"
                            : "nobody is left to " + std::string(w.what == "to put" ? "get" : "put");
    }
    if (w.needs.empty()) return "those who could end that have ended";
    std::vector<std::string> names;
    for (const std::size_t i : w.needs) {
        const stuck_wait& needed = waits[i];
        std::string name = needed.stage.empty() ? needed.who : "stage '" + needed.stage + "'";
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    constexpr std::size_t most = 3;
    std::string text = "that needs ";
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : " or ") + names[i];
    if (names.size() > most) text += " or " + std::to_string(names.size() - most) + " more";
    return text + (names.size() == 1 ? ", which waits itself" : ", which wait themselves");
}

WEIR_INLINE std::string stall_report::text() const {
    std::ostringstream out;
    out << *this;
    return out.str();
}

}  // namespace weir

#endif
