// simulate: the entries of a file: one JSON value, a list of them, or one a line.
// Each entry knows its place, for messages.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_ENTRIES_HPP
#define WEIR_EXAMPLES_SIMULATE_ENTRIES_HPP

#include "json.hpp"
#include "numbers.hpp"
#include "spec_error.hpp"

#include <algorithm>    // for std::min
#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace simulate {

namespace detail {

inline bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Whether each line is a value: by the name of the file, or because the first of several lines is a whole object.
inline bool has_lines(std::string_view text, const std::string& file) {
    if (std::string_view(file).ends_with(".jsonl")) return true;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || is_blank(text.substr(end)) || is_blank(text.substr(0, end)))
        return false;
    return text[0] == '{' && json::accept(text.substr(0, end));
}

// A value, its place in the file (a line, an entry of a list, or nothing), and its text.
struct entry {
    json value;
    std::string where;
    std::string_view text;  // empty: of an entry of a list
};

// At least one. Lifetime: of the text. Errors: `spec_error` for broken JSON, and for a file without an entry.
inline std::vector<entry> to_entries(std::string_view text, const std::string& file) {
    std::vector<entry> entries;
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // a byte order mark
    if (is_blank(text)) throw spec_error(file, "", "", "is empty; it must hold at least one spec");
    if (has_lines(text, file)) {
        for (std::size_t number = 1; !text.empty(); ++number) {
            const std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            if (is_blank(line)) continue;
            entries.push_back({to_json(line, file, number), "line " + std::to_string(number), line});
        }
        return entries;
    }
    json value = to_json(text, file, 1);
    if (!value.is_array()) {
        entries.push_back({std::move(value), "", text});
        return entries;
    }
    if (value.empty()) throw spec_error(file, "", "", "is an empty list; it must hold at least one spec");
    const std::vector<std::size_t> lines = entry_lines(text);
    for (std::size_t i = 0; i < value.size(); ++i) {
        entries.push_back({std::move(value[i]),
                           "line " + std::to_string(lines.at(i)) + ", entry " + std::to_string(i + 1), ""});
    }
    return entries;
}

}  // namespace detail

}  // namespace simulate

#endif
