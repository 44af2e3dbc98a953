// weir report, internal: names as a terminal shows them: safe to print, and of a width that is known
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TERMINAL_TEXT_HPP
#define WEIR_REPORT_TERMINAL_TEXT_HPP

#include <weir/report/utf8.hpp>

#include <array>        // for std::array
#include <cstddef>      // for std::size_t
#include <cstdint>      // for SIZE_MAX
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

// A text, and how many columns of a terminal it takes.
struct terminal_text {
    std::string text;
    std::size_t width = 0;
};

struct code_points {
    unsigned first;
    unsigned last;
    std::size_t width;
};

// Those of which all terminals agree how wide they are: letters and signs, and what East Asia writes in two
// columns (UAX #11, W and F). Marks that stand on the letter before them take no column, and are left out.
// All others, as controls, what turns the direction of text, and emoji, are none of these.
inline constexpr std::array<code_points, 22> known_widths = {{
    {0x20, 0x7E, 1},     {0xA1, 0xAC, 1},       {0xAE, 0x2FF, 1},    {0x300, 0x36F, 0},   {0x370, 0x377, 1},
    {0x37A, 0x37F, 1},   {0x384, 0x3FF, 1},     {0x400, 0x482, 1},   {0x483, 0x489, 0},   {0x48A, 0x52F, 1},
    {0x1E00, 0x1FFF, 1}, {0x2010, 0x2027, 1},   {0x2030, 0x205E, 1}, {0x2190, 0x2311, 1}, {0x3001, 0x3029, 2},
    {0x3041, 0x3096, 2}, {0x309B, 0x30FF, 2},   {0x3400, 0x4DBF, 2}, {0x4E00, 0x9FFF, 2}, {0xAC00, 0xD7A3, 2},
    {0xFF01, 0xFF60, 2}, {0x20000, 0x2FFFD, 2},
}};

// Of a whole character of UTF-8.
[[nodiscard]] inline unsigned code_point(std::string_view character) noexcept {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return first;
    unsigned code = first & (0x7FU >> character.size());
    for (const char c : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    return code;
}

// As much of it as fits, `~` at the end where that isn't all; `?` for each character, and each byte that is
// part of none, that may move the cursor, or by how far nobody knows.
[[nodiscard]] inline terminal_text for_terminal(std::string_view name, std::size_t most = SIZE_MAX) {
    terminal_text shown;
    terminal_text cut;  // what is left of it if it turns out to be too long
    while (!name.empty()) {
        const std::size_t length = utf8_length(name);
        std::string_view character = name.substr(0, length == 0 ? 1 : length);
        std::size_t width = 1;
        const code_points* known = nullptr;
        for (const code_points& each : known_widths) {
            const unsigned code = length == 0 ? 0 : code_point(character);
            if (code >= each.first && code <= each.last) known = &each;
        }
        name.remove_prefix(character.size());
        if (known == nullptr) {
            character = "?";
        } else {
            width = known->width;
        }
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

// The same, and blanks behind it: `width` columns.
[[nodiscard]] inline std::string cell_of(std::string_view name, std::size_t width) {
    terminal_text shown = for_terminal(name, width);
    shown.text.append(width - shown.width, ' ');
    return std::move(shown.text);
}

}  // namespace weir::detail

#endif
