// weir report, internal: where a character of UTF-8 ends, and where there is none
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_UTF8_HPP
#define WEIR_REPORT_UTF8_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>      // for std::size_t
#include <string_view>  // for std::string_view

namespace weir::detail {

// What stands for a byte that is part of no character: U+FFFD.
inline constexpr std::string_view no_character = "\xEF\xBF\xBD";

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

}  // namespace weir::detail

#endif
