// weir report, internal: text given by users, made safe for JSON, CSV, Prometheus, HTML and terminals
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_ESCAPE_HPP
#define WEIR_REPORT_ESCAPE_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for SIZE_MAX
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

// U+FFFD. JSON, CSV, Prometheus and HTML get it for each byte that belongs to no valid UTF-8 character.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// \returns the number of bytes of the UTF-8 character at the front of `text`; 0 if `text` is empty or begins
//          with an invalid byte.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

// \returns the text with U+FFFD for each byte that belongs to no valid UTF-8 character.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// \returns the text with a space for each control character, such as a line break.
[[nodiscard]] inline std::string in_one_line(std::string text) {
    for (char& c : text) c = is_control(c) ? ' ' : c;
    return text;
}

// Appends `text` as a JSON string with its quotes. `<` is escaped, so that the string may stand in HTML.
void append_json(std::string& out, std::string_view text);

// \returns a CSV field by RFC 4180. A control character, such as a line break, becomes a space: a row is one
//          line.
[[nodiscard]] std::string csv_field(std::string_view text);

// \returns `name="value"` for Prometheus and OpenMetrics. Both escape `"`, `\` and the line break, and
//          nothing else. A null character becomes U+FFFD: parsers in C end the text there.
[[nodiscard]] std::string label_text(std::string_view name, std::string_view value);

// \returns the text for HTML and XML, as content or as the value of an attribute in double quotes. ASCII
//          control characters except line break and tab, and U+FFFE and U+FFFF, become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

// \returns at most `columns` columns of the text; the last is `…` if something was cut. `columns` is at least
//          1. Characters of three and four bytes count as two columns, because most of them are wide.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t columns);

// Text for a terminal, and its width in columns.
struct terminal_text {
    std::string text;
    std::size_t width = 0;
};

// \returns as much of `name` as fits into `most` columns; `~` at the end if something was cut, unless `most`
//          is 0. `?` replaces every character that could move the cursor or whose width is unknown. Combining
//          marks of Latin and Cyrillic letters are left out.
[[nodiscard]] terminal_text for_terminal(std::string_view name, std::size_t most = SIZE_MAX);

// \returns the text of `for_terminal(name, width)`, padded with spaces to `width` columns.
[[nodiscard]] std::string cell_of(std::string_view name, std::size_t width);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/escape.ipp>
#endif

#endif
