// weir report, internal: bodies of the functions of report/json_value.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_VALUE_IPP
#define WEIR_REPORT_JSON_VALUE_IPP

#include <weir/report/json_value.hpp>

#include <weir/platform/config.hpp>

#include <charconv>      // for std::from_chars
#include <stdexcept>     // for std::runtime_error
#include <system_error>  // for std::errc

namespace weir::detail {

WEIR_INLINE const json_value* json_value::find(std::string_view key) const noexcept {
    for (std::size_t i = keys.size(); i-- != 0;) {
        if (keys[i] == key) return &items[i];
    }
    return nullptr;
}

WEIR_INLINE json_value json_reader::whole() {
    json_value all = value(0);
    skip_whitespace();
    if (at_ != text_.size()) fail("something follows the value");
    return all;
}

WEIR_INLINE void json_reader::fail(const char* what) const {
    throw std::runtime_error("weir: this is no JSON: at byte " + std::to_string(at_) + " " + what);
}

WEIR_INLINE bool json_reader::consume(char c) noexcept {
    if (!is_at(c)) return false;
    ++at_;
    return true;
}

WEIR_INLINE bool json_reader::consume(std::string_view word) noexcept {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
}

WEIR_INLINE void json_reader::skip_whitespace() noexcept {
    while (is_at(' ') || is_at('\n') || is_at('\r') || is_at('\t')) ++at_;
}

WEIR_INLINE json_value json_reader::value(int depth) {
    if (depth > max_depth) fail("it is nested too deeply");
    skip_whitespace();
    json_value v;
    v.begin = at_;
    if (consume('{')) {
        v.is = json_value::kind::object;
        elements(v, '}', depth);
    } else if (consume('[')) {
        v.is = json_value::kind::array;
        elements(v, ']', depth);
    } else if (consume('"')) {
        v.is = json_value::kind::string;
        v.text = string();
    } else if (consume("null")) {  // `v` is null already
    } else if (consume("true") || consume("false")) {
        v.is = json_value::kind::boolean;
        v.text = text_.substr(v.begin, at_ - v.begin);
    } else {
        v.is = json_value::kind::number;
        v.text = number();
    }
    return v;
}

WEIR_INLINE void json_reader::elements(json_value& of, char end, int depth) {
    skip_whitespace();
    if (consume(end)) return;
    do {
        if (of.is == json_value::kind::object) {
            skip_whitespace();
            if (!consume('"')) fail("a key in quotes is missing");
            of.keys.push_back(string());
            skip_whitespace();
            if (!consume(':')) fail("a colon is missing");
        }
        of.items.push_back(value(depth + 1));
        skip_whitespace();
    } while (consume(','));
    if (!consume(end)) fail("a comma or the end is missing");
}

WEIR_INLINE std::string json_reader::number() {
    const std::size_t begin = at_;
    consume('-');
    if (!consume('0') && !digits()) fail("a value is missing");
    if (consume('.') && !digits()) fail("a digit is missing");
    if (consume('e') || consume('E')) {
        if (!consume('+')) consume('-');
        if (!digits()) fail("a digit is missing");
    }
    return std::string(text_.substr(begin, at_ - begin));
}

WEIR_INLINE bool json_reader::digits() noexcept {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ != begin;
}

WEIR_INLINE std::string json_reader::string() {
    std::string s;
    while (!consume('"')) {
        const std::size_t n = utf8_length(text_.substr(at_));
        if (at_ == text_.size()) fail("the string doesn't end");
        if (n == 0) fail("the string is no UTF-8");
        if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("the string has a control character");
        if (consume('\\')) {
            escaped(s);
        } else {
            s += text_.substr(at_, n);
            at_ += n;
        }
    }
    return s;
}

WEIR_INLINE void json_reader::escaped(std::string& s) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view values = "\"\\/\b\f\n\r\t";
    const std::size_t which = at_ < text_.size() ? names.find(text_[at_]) : names.npos;
    if (which != names.npos) {
        ++at_;
        s += values[which];
        return;
    }
    if (!consume('u')) fail("this is no escape");
    std::uint32_t c = code_unit();
    if (c >= 0xD800 && c < 0xDC00) {
        if (!consume("\\u")) fail("half of a character is missing");
        const std::uint32_t low = code_unit();
        if (low < 0xDC00 || low >= 0xE000) fail("half of a character is missing");
        c = 0x10000 + ((c - 0xD800) << 10U) + (low - 0xDC00);
    } else if (c >= 0xDC00 && c < 0xE000) {
        fail("half of a character is missing");
    }
    append_utf8(s, c);
}

WEIR_INLINE std::uint32_t json_reader::code_unit() {
    std::uint32_t c = 0;
    const std::string_view hex = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), c, 16);
    if (hex.size() < 4 || error != std::errc() || end != hex.data() + 4) fail("this is no escape");
    at_ += 4;
    return c;
}

WEIR_INLINE void json_reader::append_utf8(std::string& s, std::uint32_t c) {
    const auto byte = [&s](std::uint32_t b) { s += static_cast<char>(b); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
        byte(0xC0U | (c >> 6U));
    } else {
        if (c < 0x10000) {
            byte(0xE0U | (c >> 12U));
        } else {
            byte(0xF0U | (c >> 18U));
            byte(0x80U | ((c >> 12U) & 0x3FU));
        }
        byte(0x80U | ((c >> 6U) & 0x3FU));
    }
    byte(0x80U | (c & 0x3FU));
}

}  // namespace weir::detail

#endif
