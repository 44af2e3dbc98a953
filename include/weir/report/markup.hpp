// weir report, internal: text in HTML and SVG, whatever somebody called something
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_MARKUP_HPP
#define WEIR_REPORT_MARKUP_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/utf8.hpp>

#include <charconv>     // for std::to_chars
#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir::detail {

// Fit for both text and the value of an attribute, of HTML and of XML. What is no UTF-8, and what XML has no
// place for, becomes U+FFFD.
[[nodiscard]] inline std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t n = utf8_length(text);
        const std::string_view whole = text.substr(0, n);
        const bool control = (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7F';
        if (n == 0 || control || whole == "\xEF\xBF\xBE" || whole == "\xEF\xBF\xBF") {
            out += no_character;
        } else if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else {
            out += whole;
        }
        text.remove_prefix(n == 0 ? 1 : n);
    }
    return out;
}

// At most so many columns of it, the last one `…` where there is more. Characters of three and four bytes
// count as two columns, as most of them are wide.
[[nodiscard]] inline std::string shortened(const std::string& text, std::size_t columns) {
    std::string_view rest = text;
    std::size_t used = 0;
    std::size_t kept = 0;  // bytes, with a column to spare
    while (!rest.empty()) {
        const std::size_t n = utf8_length(rest);
        used += n > 2 ? 2 : 1;
        if (used > columns) return text.substr(0, kept) + "…";
        rest.remove_prefix(n == 0 ? 1 : n);
        if (used < columns) kept = text.size() - rest.size();
    }
    return text;
}

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
