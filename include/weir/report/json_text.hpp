// weir report, internal: values as JSON
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_TEXT_HPP
#define WEIR_REPORT_JSON_TEXT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/report/fields.hpp>
#include <weir/report/utf8.hpp>
#include <weir/run/stage_options.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir::detail {

// As a string of JSON. What is no UTF-8 becomes U+FFFD, as JSON can't have it; `<` is escaped, so that the
// text may stand in HTML.
inline void append_json(std::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    out += '"';
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        const std::size_t n = utf8_length(text);
        if (n == 0) {
            out += no_character;
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
    ((out += std::to_string(h.sum().count())) += ",\"max\":") += std::to_string((h.max)().count());
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
