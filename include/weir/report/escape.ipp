// weir report, internal: bodies of the functions of report/escape.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_ESCAPE_IPP
#define WEIR_REPORT_ESCAPE_IPP

#include <weir/report/escape.hpp>

#include <weir/platform/config.hpp>

#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&text](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&at](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80) return text.empty() ? 0 : 1;
    // The range of the second byte excludes overlong forms, UTF-16 surrogates and code points past U+10FFFF.
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool valid = (first != 0xE0 || at(1) >= 0xA0) && (first != 0xED || at(1) < 0xA0);
        return valid && follows(1) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool valid = (first != 0xF0 || at(1) >= 0x90) && (first != 0xF4 || at(1) < 0x90);
        return valid && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

// Removes the first character of `text`, which is not empty, and returns it. An invalid byte is removed alone
// and returned as U+FFFD.
inline std::string_view take_character(std::string_view& text) noexcept {
    const std::size_t length = utf8_length(text);
    const std::string_view character = length == 0 ? replacement_character : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
    return character;
}

WEIR_INLINE std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) valid += take_character(text);
    return valid;
}

WEIR_INLINE void append_json(std::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    out += '"';
    while (!text.empty()) {
        const std::string_view character = take_character(text);
        const char c = character[0];
        if (c == '"' || c == '\\') {
            (out += '\\') += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (is_control(c) || c == '<') {
            ((out += "\\u00") += digits[static_cast<unsigned>(c) >> 4U]) +=
                digits[static_cast<unsigned>(c) & 15U];
        } else {
            out += character;
        }
    }
    out += '"';
}

WEIR_INLINE std::string csv_field(std::string_view text) {
    std::string field;
    bool quoted = false;
    while (!text.empty()) {
        const std::string_view character = take_character(text);
        const char c = character[0];
        if (c == '"') field += '"';
        quoted = quoted || c == '"' || c == ',';
        field += is_control(c) ? std::string_view(" ") : character;
    }
    return quoted ? '"' + field + '"' : field;
}

WEIR_INLINE std::string label_text(std::string_view name, std::string_view value) {
    std::string text(name);
    text += "=\"";
    while (!value.empty()) {
        const std::string_view character = take_character(value);
        const char c = character[0];
        if (c == '"' || c == '\\') text += '\\';
        text += c == '\n' ? std::string_view("\\n") : c == '\0' ? replacement_character : character;
    }
    return text += '"';
}

WEIR_INLINE std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::string_view character = take_character(text);
        const char c = character[0];
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if ((is_control(c) && c != '\n' && c != '\t') || character == "\xEF\xBF\xBE" ||
                   character == "\xEF\xBF\xBF") {
            out += replacement_character;
        } else {
            out += character;
        }
    }
    return out;
}

WEIR_INLINE std::string shortened(const std::string& text, std::size_t columns) {
    std::string_view rest = text;
    std::size_t used = 0;
    std::size_t kept = 0;  // the bytes of `text` that leave a column free for the ellipsis
    while (!rest.empty()) {
        const std::size_t before = rest.size();
        static_cast<void>(take_character(rest));
        used += before - rest.size() > 2 ? 2U : 1U;
        if (used > columns) return text.substr(0, kept) + "…";
        if (used < columns) kept = text.size() - rest.size();
    }
    return text;
}

// A range of code points of one width: letters and signs, and wide characters of East Asia (UAX #11, W and
// F). Terminals agree on this width, except that some in East Asia show ambiguous characters (UAX #11, A) in
// two columns. `for_terminal` drops combining marks (width 0). It writes `?` for all other code points, such
// as control characters, letters written from right to left, and most emoji.
struct known_width {
    unsigned first;
    unsigned last;
    std::size_t width;
};
inline constexpr known_width known_widths[] = {
    {0x20, 0x7E, 1},     {0xA1, 0xAC, 1},       {0xAE, 0x2FF, 1},    {0x300, 0x36F, 0},   {0x370, 0x377, 1},
    {0x37A, 0x37F, 1},   {0x384, 0x3FF, 1},     {0x400, 0x482, 1},   {0x483, 0x489, 0},   {0x48A, 0x52F, 1},
    {0x1E00, 0x1FFF, 1}, {0x2010, 0x2027, 1},   {0x2030, 0x205E, 1}, {0x2190, 0x2311, 1}, {0x3001, 0x3029, 2},
    {0x3041, 0x3096, 2}, {0x309B, 0x30FF, 2},   {0x3400, 0x4DBF, 2}, {0x4E00, 0x9FFF, 2}, {0xAC00, 0xD7A3, 2},
    {0xFF01, 0xFF60, 2}, {0x20000, 0x2FFFD, 2},
};

// \returns the code point of one valid UTF-8 character.
inline unsigned code_point(std::string_view character) noexcept {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return first;
    unsigned code = first & (0x7FU >> character.size());
    for (const char c : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    return code;
}

WEIR_INLINE terminal_text for_terminal(std::string_view name, std::size_t most) {
    terminal_text shown;
    terminal_text cut;  // the result if the name turns out to be too long
    while (!name.empty()) {
        std::string_view character = take_character(name);
        const known_width* known = nullptr;
        for (const known_width& each : known_widths) {
            if (code_point(character) >= each.first && code_point(character) <= each.last) known = &each;
        }
        if (known == nullptr) character = "?";
        const std::size_t width = known == nullptr ? 1 : known->width;
        if (width == 0) continue;
        if (shown.width + width > most) {
            cut.text += most == 0 ? "" : "~";
            cut.width += most == 0 ? 0 : 1;
            return cut;
        }
        shown.text += character;
        shown.width += width;
        if (shown.width < most) cut = shown;
    }
    return shown;
}

WEIR_INLINE std::string cell_of(std::string_view name, std::size_t width) {
    terminal_text shown = for_terminal(name, width);
    shown.text.append(width - shown.width, ' ');
    return std::move(shown.text);
}

}  // namespace weir::detail

#endif
