// weir report, internal: text given by users, made safe for JSON, CSV, Prometheus, HTML and terminals
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_ESCAPE_HPP
#define WEIR_REPORT_ESCAPE_HPP

#include <weir/platform/config.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for SIZE_MAX
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

// U+FFFD, written in place of a byte that belongs to no valid UTF-8 character.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// \returns the number of bytes of the UTF-8 character at the front of `text`; 0 if there is no valid one.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

// Removes the first character of `text`, which is not empty, and returns it. An invalid byte is removed alone
// and returned as U+FFFD.
[[nodiscard]] std::string_view take_character(std::string_view& text) noexcept;

[[nodiscard]] constexpr bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7F';
}

// Appends `text` as a JSON string with its quotes. `<` is escaped, so that the string may stand in HTML.
void append_json(std::string& out, std::string_view text);

// \returns a CSV field by RFC 4180. A control character, such as a line break, becomes a space: a row is one
//          line.
[[nodiscard]] std::string csv_field(std::string_view text);

// \returns `name="value"` for Prometheus and OpenMetrics. Both escape `"`, `\` and the line break, and
//          nothing else. A null character becomes U+FFFD: parsers in C end the text there.
[[nodiscard]] std::string label_text(std::string_view name, std::string_view value);

// \returns the text for HTML and XML, as content or as the value of an attribute. Characters that XML does
//          not allow become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

// \returns at most `columns` columns of the text; the last is `…` if something was cut. Characters of three
//          and four bytes count as two columns, because most of them are wide.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t columns);

// Text for a terminal, and its width in columns.
struct terminal_text {
    std::string text;
    std::size_t width = 0;
};

// A range of code points whose width is the same on all terminals: letters and signs, and the wide characters
// of East Asia (UAX #11, W and F). Combining marks have width 0 and are left out. Not listed: control
// characters, characters that change the direction of text, and emoji.
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

[[nodiscard]] unsigned code_point(std::string_view character) noexcept;

// \returns as much of `name` as fits into `most` columns; `~` at the end if something was cut. `?` replaces
//          every character that could move the cursor or whose width is unknown.
[[nodiscard]] terminal_text for_terminal(std::string_view name, std::size_t most = SIZE_MAX);

// \returns the same, padded with spaces to `width` columns.
[[nodiscard]] std::string cell_of(std::string_view name, std::size_t width);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/escape.ipp>
#endif

#endif
