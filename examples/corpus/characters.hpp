// corpus: the characters of UTF-8 text, and which of them form words. An invalid byte counts as a mark.
// Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_CHARACTERS_HPP
#define WEIR_EXAMPLES_CORPUS_CHARACTERS_HPP

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t
#include <string_view>  // for std::string_view

namespace corpus {

/// The kind of a character, for the tokenizer.
enum class char_kind { end, space, letter, mark };

/// One character of UTF-8 text.
struct character {
    char_kind kind;
    std::size_t length;  // in bytes
};

inline char_kind kind_of(std::uint32_t code) noexcept {
    if (code == 0x85 || code == 0xa0 || code == 0xfeff || code == 0x3000) return char_kind::space;
    if (code >= 0x2000 && code <= 0x200f) return char_kind::space;
    if (code >= 0x2028 && code <= 0x202f) return char_kind::space;
    if (code < 0xaa) return char_kind::mark;                      // controls and signs
    if (code >= 0x2010 && code < 0x2c00) return char_kind::mark;  // punctuation, arrows, mathematics
    if (code >= 0x2e00 && code < 0xac00) return char_kind::mark;  // punctuation, kana, han
    if (code >= 0x1f000) return char_kind::mark;                  // pictures, rarer han
    return char_kind::letter;
}

/// \returns the first character of the text
[[nodiscard]] inline character first_of(std::string_view text) noexcept {
    if (text.empty()) return {char_kind::end, 0};
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) {
        if (first <= ' ' || first == 0x7f) return {char_kind::space, 1};
        const bool alphanumeric = (first >= '0' && first <= '9') || (first >= 'A' && first <= 'Z') ||
                                  (first >= 'a' && first <= 'z');
        return {alphanumeric ? char_kind::letter : char_kind::mark, 1};
    }
    std::size_t length = first >= 0xf0 ? 4U : first >= 0xe0 ? 3U : 2U;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return {char_kind::mark, 1};
    std::uint32_t code = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xc0U) != 0x80U) return {char_kind::mark, 1};
        code = (code << 6) | (byte & 0x3fU);
    }
    // An overlong form, a surrogate, or beyond the last code point.
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code <= 0xdfff)) {
        return {char_kind::mark, 1};
    }
    return {kind_of(code), length};
}

/// A heuristic that distinguishes text from binary data.
[[nodiscard]] inline bool looks_binary(std::string_view text) noexcept {
    return text.substr(0, 1024).find('\0') != std::string_view::npos;
}

}  // namespace corpus

#endif
