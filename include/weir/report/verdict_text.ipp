// weir report, internal: bodies of the functions of report/verdict_text.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_VERDICT_TEXT_IPP
#define WEIR_REPORT_VERDICT_TEXT_IPP

#include <weir/report/verdict_text.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>

namespace weir::detail {

WEIR_INLINE std::string ascii_only(std::string text) {
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text;
}

WEIR_INLINE std::string in_lines(const std::string& text, std::size_t max_width) {
    std::string lines;
    std::size_t begin = 0;
    while (text.size() - begin > max_width) {
        std::size_t end = text.rfind(' ', begin + max_width);
        if (end == std::string::npos || end <= begin) end = text.find(' ', begin);  // a long word
        if (end == std::string::npos) break;
        lines += text.substr(begin, end - begin) + '\n';
        begin = end + 1;
    }
    return lines + text.substr(begin);
}

WEIR_INLINE std::string verdict_lines(const verdict& v, std::size_t max_width) {
    return in_lines(ascii_only("verdict: " + v.sentence + "."), max_width) + "\n";
}

WEIR_INLINE std::string verdict_line(const verdict& v) {
    std::string text = "cause=" + std::string(name_of(v.cause));
    if (!v.stage.empty()) {
        text += " stage=\"";
        for (const char c : v.stage) text += c == '"' ? '\'' : c;
        text += '"';
    }
    text += " gain=" + units::fixed(v.gain, 2) + " sure=" + units::fixed(v.sure, 2) + ": " + v.sentence + ".";
    for (char& c : text) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return "[verdict]\t" + text + "\n";
}

}  // namespace weir::detail

#endif
