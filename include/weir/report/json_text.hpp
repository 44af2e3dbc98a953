// weir report, internal: values as JSON
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_TEXT_HPP
#define WEIR_REPORT_JSON_TEXT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/report/fields.hpp>
#include <weir/run/stage_options.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir::detail {

// How many bytes the character of UTF-8 takes that begins there; 0: none does.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&text](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&at](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80) return text.empty() ? 0 : 1;
    // The second byte's range keeps out what is longer than it has to be, halves of UTF-16, and what is no
    // character any more.
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool right = (first != 0xE0 || at(1) >= 0xA0) && (first != 0xED || at(1) < 0xA0);
        return right && follows(1) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool right = (first != 0xF0 || at(1) >= 0x90) && (first != 0xF4 || at(1) < 0x90);
        return right && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

// As a string of JSON. What is no UTF-8 becomes U+FFFD, as JSON can't have it; `<` is escaped, so that the
// text may stand in HTML.
inline void append_json(std::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    out += '"';
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        const std::size_t n = utf8_length(text);
        if (n == 0) {
            out += "\xEF\xBF\xBD";
        } else if (c == '"' || c == '\\') {
            (out += '\\') += text.front();
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (c < 0x20 || c == 0x7F || c == '<') {
            ((out += "\\u00") += digits[c >> 4U]) += digits[c & 15U];
        } else {
            out += text.substr(0, n);
        }
        text.remove_prefix(n == 0 ? 1 : n);
    }
    out += '"';
}
inline void append_json(std::string& out, const std::string& text) {
    append_json(out, std::string_view(text));
}
inline void append_json(std::string& out, std::integral auto value) {
    if constexpr (std::same_as<decltype(value), bool>) {
        out += value ? "true" : "false";
    } else {
        out += std::to_string(value);
    }
}
// In nanoseconds.
inline void append_json(std::string& out, duration d) { out += std::to_string(d.count()); }
inline void append_json(std::string& out, output_order order) {
    out += order == output_order::input ? "\"input\"" : "\"completion\"";
}

template <class T>
void append_json(std::string& out, const std::vector<T>& all);
template <has_fields T>
void append_json(std::string& out, const T& object);

// Each bucket as [its shortest duration, how many].
inline void append_json(std::string& out, const histogram& h) {
    ((out += "{\"count\":") += std::to_string(h.count())) += ",\"sum\":";
    ((out += std::to_string(h.sum().count())) += ",\"max\":") += std::to_string(h.max().count());
    out += ",\"buckets\":[";
    const char* comma = "";
    for (const histogram_bucket& b : h.buckets()) {
        ((out += comma) += '[') += std::to_string(b.least.count());
        ((out += ',') += std::to_string(b.count)) += ']';
        comma = ",";
    }
    out += "]}";
}

template <class T>
void append_json(std::string& out, const std::vector<T>& all) {
    out += '[';
    const char* comma = "";
    for (const T& each : all) {
        out += comma;
        append_json(out, each);
        comma = ",";
    }
    out += ']';
}

// A member that isn't there is left out.
inline bool is_there(const auto&) noexcept { return true; }
template <class T>
bool is_there(const std::optional<T>& value) noexcept {
    return value.has_value();
}
template <class T>
const T& it(const T& value) noexcept {
    return value;
}
template <class T>
const T& it(const std::optional<T>& value) noexcept {
    return *value;
}

template <has_fields T>
void append_json(std::string& out, const T& object) {
    char before = '{';
    fields<T>::each(object, [&](const char* name, const auto& member) {
        if (!is_there(member)) return;
        (((out += before) += '"') += name) += "\":";
        append_json(out, it(member));
        before = ',';
    });
    out += before == '{' ? "{}" : "}";
}

}  // namespace weir::detail

#endif
