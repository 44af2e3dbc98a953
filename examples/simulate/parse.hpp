// simulate: parses a file of specs, and reports the place of a mistake.
// A file has one spec, a list of specs, or one spec per line.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PARSE_HPP
#define WEIR_EXAMPLES_SIMULATE_PARSE_HPP

#include "json.hpp"
#include "numbers.hpp"
#include "pipelines.hpp"
#include "spec.hpp"

#include <algorithm>    // for std::min
#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace simulate {

namespace detail {

inline pipeline_spec located(const json& value, const std::string& file, const std::string& where) {
    try {
        return to_spec_or_wrapped(value);
    } catch (const mistake& m) {
        throw spec_error(file, where, m.field, m.why);
    }
}

inline bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace detail

/// \param text  the content of the file: a spec or a list of specs; if `file` ends in ".jsonl", one spec
///              a line. Instead of a spec there may be an object that has one as its field "spec".
/// \param file  its name, for the messages
/// \returns at least one spec; each has been checked
/// Errors: `spec_error` for the first mistake.
[[nodiscard]] inline std::vector<pipeline_spec> parse_specs(std::string_view text, const std::string& file) {
    std::vector<pipeline_spec> specs;
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // a byte order mark
    if (detail::is_blank(text)) throw spec_error(file, "", "", "is empty; it must hold at least one spec");
    if (std::string_view(file).ends_with(".jsonl")) {
        for (std::size_t number = 1; !text.empty(); ++number) {
            const std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            if (detail::is_blank(line)) continue;
            const detail::json value = detail::to_json(line, file, number);
            specs.push_back(detail::located(value, file, "line " + std::to_string(number)));
        }
        return specs;
    }
    const detail::json value = detail::to_json(text, file, 1);
    if (!value.is_array()) return {detail::located(value, file, "")};
    if (value.empty()) throw spec_error(file, "", "", "is an empty list; it must hold at least one spec");
    const std::vector<std::size_t> lines = detail::entry_lines(text);
    for (std::size_t i = 0; i < value.size(); ++i) {
        specs.push_back(
            detail::located(value[i], file,
                            "line " + std::to_string(lines.at(i)) + ", entry " + std::to_string(i + 1)));
    }
    return specs;
}

}  // namespace simulate

#endif
