// simulate: parses JSON, and finds the position of a value in the text.
// Invalid JSON is reported by line and column.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_JSON_HPP
#define WEIR_EXAMPLES_SIMULATE_JSON_HPP

#include "numbers.hpp"
#include "spec_error.hpp"

#include <algorithm>    // for std::count, std::min
#include <cstddef>      // for std::size_t
#include <set>          // for std::set
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace simulate {

namespace detail {

inline std::size_t line_of(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, position);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

// `first_line`: the number of the line with which `text` begins in its file.
inline json to_json(std::string_view text, const std::string& file, std::size_t first_line) {
    // A field given twice is a mistake. The library would silently use the last one.
    std::vector<std::set<std::string>> fields;
    std::string twice;
    const json::parser_callback_t watch = [&](int, json::parse_event_t event, json& parsed) {
        if (event == json::parse_event_t::object_start) fields.emplace_back();
        if (event == json::parse_event_t::object_end) fields.pop_back();
        if (event == json::parse_event_t::key && !fields.back().insert(parsed.get<std::string>()).second &&
            twice.empty()) {
            twice = parsed.get<std::string>();
        }
        return true;
    };
    const std::string first = "line " + std::to_string(first_line);
    try {
        json parsed = json::parse(text, watch);
        if (!twice.empty()) throw spec_error(file, first, twice, "the field is given twice");
        return parsed;
    } catch (const json::parse_error& e) {
        // "[json.exception.parse_error.101] parse error at line 1, column 3: what is wrong"; the
        // position is replaced by one that counts from the start of the file.
        const std::size_t at = std::min(text.size(), e.byte == 0 ? 0 : e.byte - 1);
        const std::size_t newline = text.substr(0, at).rfind('\n');
        const std::size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
        std::string why = e.what();
        if (const std::size_t colon = why.find(": "); colon != std::string::npos) why = why.substr(colon + 2);
        throw spec_error(file,
                         "line " + std::to_string(first_line - 1 + line_of(text, at)) + ", column " +
                             std::to_string(column),
                         "", "broken JSON: " + why);
    } catch (const json::exception& e) {  // for example for the number 1e999
        throw spec_error(file, first, "", std::string("broken JSON: ") + e.what());
    }
}

// The lines on which the entries of a list begin. The text is valid JSON that begins with '['.
inline std::vector<std::size_t> entry_lines(std::string_view text) {
    std::vector<std::size_t> lines;
    std::size_t line = 1;
    int depth = 0;
    bool in_string = false;
    bool expected = false;  // the next character except spaces begins an entry
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') ++line;
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
            continue;
        }
        if (expected && c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            lines.push_back(line);
            expected = false;
        }
        if (c == '"') in_string = true;
        if (c == '[' || c == '{') ++depth;
        if (c == ']' || c == '}') --depth;
        if (depth == 1 && (c == ',' || c == '[')) expected = true;
    }
    return lines;
}

}  // namespace detail

}  // namespace simulate

#endif
