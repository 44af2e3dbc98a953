// weir report, internal: text in HTML and SVG, whatever somebody called something
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_MARKUP_HPP
#define WEIR_REPORT_MARKUP_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/escape.hpp>

#include <charconv>  // for std::to_chars
#include <cstddef>   // for std::size_t
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir::detail {

// Names under which stages or queues are told apart: short, none empty, each only once.
[[nodiscard]] inline std::vector<std::string> labels_of(const std::vector<std::string>& names) {
    std::vector<std::string> labels;
    for (const std::string& name : names) {
        const std::string label = name.empty() ? "(no name)" : shortened(name, 24);
        std::size_t before = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (names[i] == name || shortened(names[i], 24) == label) ++before;
        }
        labels.push_back(before == 0 ? label : label + " (" + std::to_string(before + 1) + ")");
    }
    return labels;
}

// In as few characters as six digits take: for figures that a program reads, and for coordinates.
[[nodiscard]] inline std::string short_number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 6);
    return std::string(text, end.ptr);
}

// As `units::time`, with the letter that HTML has for millionths.
[[nodiscard]] inline std::string time_markup(duration d) {
    std::string text = units::time(d);
    if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "µ");
    return text;
}

}  // namespace weir::detail

#endif
