// simulate: what a spec says, as plain values, and the parser that tells where a wrong one is wrong.
// Nothing here knows the library: a spec is checked completely before anything runs.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SPEC_HPP
#define WEIR_EXAMPLES_SIMULATE_SPEC_HPP

#include <nlohmann/json.hpp>

#include <algorithm>    // for std::count, std::find
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <optional>     // for std::optional
#include <set>          // for std::set
#include <stdexcept>    // for std::runtime_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace simulate {

enum class op { pipe, aggregate, disaggregate };

/// One stage between the source and the sink.
struct stage_spec {
    op kind = op::pipe;
    std::string name;
    std::size_t concurrency = 1;           // pipe
    std::vector<std::int64_t> service_ns;  // pipe: the k-th invocation takes service_ns[k % size]
    std::size_t size = 1;                  // aggregate
    bool drop_last = false;                // aggregate
};

/// A pipeline, its foreground, and what to measure.
struct pipeline_spec {
    std::string name;  // may be empty
    std::vector<stage_spec> stages;
    std::size_t sink_capacity = 3;
    std::optional<std::uint64_t> items;       // of the source; none: it never ends
    std::vector<std::int64_t> foreground_ns;  // how long the foreground is busy with each item, in turn
    std::optional<std::int64_t> snapshot_ns;  // measure from 0 to here; none: a steady state
};

/// A file that can't be used: which, where in it, which field, and why.
class spec_error : public std::runtime_error {
  public:
    /// \param where a line, an entry of a list, or nothing
    /// \param field as in `stages[1].concurrency`, or nothing
    spec_error(const std::string& file, const std::string& where, const std::string& field,
               const std::string& why)
        : std::runtime_error(file + ": " + (where.empty() ? "" : where + ": ") +
                             (field.empty() ? "" : field + ": ") + why) {}
};

namespace detail {

using json = nlohmann::json;

// A mistake in a value, before it is known in which file and line that is.
struct mistake {
    std::string field;
    std::string why;
};

// Times are nanoseconds in 64 bits; this bound (eleven days) keeps their sums in range as well.
inline constexpr std::int64_t max_time = 1'000'000'000'000'000;
inline constexpr std::int64_t max_concurrency = 10'000;
inline constexpr std::int64_t max_capacity = 1'000'000;
inline constexpr std::int64_t max_size = 1'000'000;
inline constexpr std::int64_t max_items = 1'000'000'000'000'000'000;

// What a value looks like in a message: itself, unless it is long.
inline std::string shown(const json& value) {
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
}

// A JSON object and its path in the spec. Every look-up reports mistakes with the path of the field.
class object {
  public:
    object(const json& value, std::string path, const std::vector<std::string>& known)
        : value_(value), path_(std::move(path)) {
        if (!value.is_object()) throw mistake{path_, "must be an object (is " + shown(value) + ")"};
        for (const auto& [name, unused] : value.items()) {
            if (std::find(known.begin(), known.end(), name) != known.end()) continue;
            std::string list;
            for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
            throw mistake{field(name), "unknown field; known here: " + list};
        }
    }

    [[nodiscard]] bool has(const std::string& name) const { return value_.contains(name); }

    [[nodiscard]] const json& at(const std::string& name) const {
        if (!has(name)) throw mistake{field(name), "is missing"};
        return value_.at(name);
    }

    [[nodiscard]] std::string field(const std::string& name) const {
        return path_.empty() ? name : path_ + "." + name;
    }

    [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const {
        return to_integer(at(name), field(name), least, most);
    }

    [[nodiscard]] std::int64_t integer_or(std::int64_t value, const std::string& name, std::int64_t least,
                                          std::int64_t most) const {
        return has(name) ? integer(name, least, most) : value;
    }

    [[nodiscard]] bool boolean_or(bool value, const std::string& name) const {
        if (!has(name)) return value;
        if (!at(name).is_boolean()) {
            throw mistake{field(name), "must be true or false (is " + shown(at(name)) + ")"};
        }
        return at(name).get<bool>();
    }

    [[nodiscard]] std::string text_or(std::string value, const std::string& name) const {
        if (!has(name)) return value;
        if (!at(name).is_string()) {
            throw mistake{field(name), "must be a text in quotes (is " + shown(at(name)) + ")"};
        }
        return at(name).get<std::string>();
    }

    // A list that is not empty.
    [[nodiscard]] const json& list(const std::string& name) const {
        const json& found = at(name);
        if (!found.is_array()) throw mistake{field(name), "must be a list (is " + shown(found) + ")"};
        if (found.empty()) throw mistake{field(name), "must not be empty"};
        return found;
    }

    [[nodiscard]] std::vector<std::int64_t> times(const std::string& name) const {
        std::vector<std::int64_t> result;
        for (const json& t : list(name)) {
            const std::string path = field(name) + "[" + std::to_string(result.size()) + "]";
            result.push_back(to_integer(t, path, 0, max_time));
        }
        return result;
    }

  private:
    static std::int64_t to_integer(const json& value, const std::string& path, std::int64_t least,
                                   std::int64_t most) {
        if (!value.is_number_integer()) {
            throw mistake{path, "must be a whole number, written without '.' and exponent (is " +
                                    shown(value) + ")"};
        }
        // Above INT64_MAX the library keeps an unsigned number, which a cast would make negative.
        const bool huge =
            value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
        if (!huge && value.get<std::int64_t>() < least) {
            throw mistake{path, least == 0 ? "must not be negative (is " + shown(value) + ")"
                                           : "must be at least " + std::to_string(least) + " (is " +
                                                 shown(value) + ")"};
        }
        if (huge || value.get<std::int64_t>() > most) {
            throw mistake{path, "must be at most " + std::to_string(most) + " (is " + shown(value) + ")"};
        }
        return value.get<std::int64_t>();
    }

    const json& value_;
    std::string path_;
};

inline stage_spec to_stage(const json& value, const std::string& path) {
    if (!value.is_object()) throw mistake{path, "must be an object (is " + shown(value) + ")"};
    if (!value.contains("op"))
        throw mistake{path + ".op", "is missing; it is pipe, aggregate or disaggregate"};
    stage_spec stage;
    const json& kind = value.at("op");
    if (kind == "pipe") {
        const object o(value, path, {"op", "name", "concurrency", "service_ns"});
        stage.kind = op::pipe;
        stage.name = o.text_or("pipe", "name");
        stage.concurrency = static_cast<std::size_t>(o.integer_or(1, "concurrency", 1, max_concurrency));
        stage.service_ns = o.times("service_ns");
    } else if (kind == "aggregate") {
        const object o(value, path, {"op", "name", "size", "drop_last"});
        stage.kind = op::aggregate;
        stage.name = o.text_or("aggregate", "name");
        stage.size = static_cast<std::size_t>(o.integer("size", 1, max_size));
        stage.drop_last = o.boolean_or(false, "drop_last");
    } else if (kind == "disaggregate") {
        const object o(value, path, {"op", "name"});
        stage.kind = op::disaggregate;
        stage.name = o.text_or("disaggregate", "name");
    } else {
        throw mistake{path + ".op",
                      "must be \"pipe\", \"aggregate\" or \"disaggregate\" (is " + shown(kind) + ")"};
    }
    if (stage.name.empty()) throw mistake{path + ".name", "must not be empty"};
    return stage;
}

// What arrives at each stage: an item is a list of lists of ... as deep as there are aggregates
// before it that no disaggregate has undone.
inline void check_nesting(const std::vector<stage_spec>& stages) {
    std::vector<std::size_t> sizes;  // of the lists around an item, outermost last
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::string path = "stages[" + std::to_string(i) + "]";
        if (stages[i].kind == op::aggregate) {
            sizes.push_back(stages[i].size);
            std::size_t together = 1;
            for (const std::size_t size : sizes) together *= size;  // below 1e12: checked at each step
            if (together > static_cast<std::size_t>(max_size)) {
                throw mistake{path + ".size", "makes lists of " + std::to_string(together) +
                                                  " items in all; at most " + std::to_string(max_size) +
                                                  " fit"};
            }
        } else if (stages[i].kind == op::disaggregate) {
            if (sizes.empty()) {
                throw mistake{path + ".op",
                              "disaggregate needs lists, but single items arrive here: put an "
                              "aggregate before it"};
            }
            sizes.pop_back();
        }
    }
}

inline pipeline_spec to_spec(const json& value) {
    // "expect" is for whoever compares; "comment" for whoever reads the file.
    const object o(value, "",
                   {"name", "comment", "stages", "sink_capacity", "items", "foreground_ns", "snapshot_ns",
                    "expect"});
    pipeline_spec spec;
    spec.name = o.text_or("", "name");
    for (const json& stage : o.list("stages")) {
        spec.stages.push_back(to_stage(stage, "stages[" + std::to_string(spec.stages.size()) + "]"));
    }
    check_nesting(spec.stages);
    spec.sink_capacity = static_cast<std::size_t>(o.integer_or(3, "sink_capacity", 1, max_capacity));
    spec.foreground_ns = o.times("foreground_ns");
    if (o.has("items")) spec.items = static_cast<std::uint64_t>(o.integer("items", 0, max_items));
    if (o.has("snapshot_ns")) spec.snapshot_ns = o.integer("snapshot_ns", 1, max_time);

    bool takes_time = spec.items.has_value();
    for (const std::int64_t t : spec.foreground_ns) takes_time = takes_time || t > 0;
    for (const stage_spec& s : spec.stages) {
        for (const std::int64_t t : s.service_ns) takes_time = takes_time || t > 0;
    }
    if (!takes_time) {
        throw mistake{"foreground_ns",
                      "nothing here takes any time and the source never ends, so time would stand "
                      "still: give a time above 0, or 'items'"};
    }
    return spec;
}

// A spec itself, or an object that has one.
inline pipeline_spec to_spec_or_wrapped(const json& value) {
    if (!value.is_object()) throw mistake{"", "a spec must be an object (is " + shown(value) + ")"};
    if (!value.contains("spec")) return to_spec(value);
    try {
        return to_spec(value.at("spec"));
    } catch (mistake& m) {
        m.field = "spec" + (m.field.empty() ? "" : "." + m.field);
        throw;
    }
}

inline std::size_t line_of(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, position);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

// `first_line`: the number of the line with which `text` begins in its file.
inline json to_json(std::string_view text, const std::string& file, std::size_t first_line) {
    // A field given twice is a mistake that the library would pass over: the last one wins there.
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
        // position is put into words that count from the start of the file.
        const std::size_t at = std::min(text.size(), e.byte == 0 ? 0 : e.byte - 1);
        const std::size_t newline = text.substr(0, at).rfind('\n');
        const std::size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
        std::string why = e.what();
        if (const std::size_t colon = why.find(": "); colon != std::string::npos) why = why.substr(colon + 2);
        throw spec_error(file,
                         "line " + std::to_string(first_line - 1 + line_of(text, at)) + ", column " +
                             std::to_string(column),
                         "", "broken JSON: " + why);
    } catch (const json::exception& e) {  // such as a number like 1e999
        throw spec_error(file, first, "", std::string("broken JSON: ") + e.what());
    }
}

// The lines on which the entries of a list begin. The text is valid JSON that begins with '['.
inline std::vector<std::size_t> entry_lines(std::string_view text) {
    std::vector<std::size_t> lines;
    std::size_t line = 1;
    int depth = 0;
    bool in_string = false;
    bool expected = false;  // the next character that is no space begins an entry
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

/// \param text  what the file holds: a spec or a list of specs; if `file` ends in ".jsonl", one spec
///              a line. Instead of a spec there may be an object that has one as its field "spec".
/// \param file  its name, for the messages
/// \returns at least one spec, each of them fit to run
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
