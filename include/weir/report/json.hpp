// weir report: a run as JSON, and back
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_HPP
#define WEIR_REPORT_JSON_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/fields.hpp>
#include <weir/report/json_value.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/stage_options.hpp>

#include <charconv>      // for std::from_chars
#include <concepts>      // for std::integral
#include <cstdint>       // for std::int64_t
#include <fstream>       // for std::ifstream
#include <optional>      // for std::optional
#include <sstream>       // for std::ostringstream
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace weir {

namespace detail {

// The schema that is written. A schema that only gains members keeps its number: the reader ignores members
// that it does not know, and gives missing members their default values.
inline constexpr const char* json_schema = "weir.run/1";

inline void append_json(std::string& out, const std::string& text) {
    append_json(out, std::string_view(text));
}
inline void append_json(std::string& out, std::integral auto value) {
    if constexpr (std::same_as<decltype(value), bool>) {
        out += value ? "true" : "false";
    } else {
        out += std::to_string(value);
    }
}
// In nanoseconds.
inline void append_json(std::string& out, duration d) { out += std::to_string(d.count()); }
inline void append_json(std::string& out, output_order order) {
    out += order == output_order::input ? "\"input\"" : "\"completion\"";
}

template <class T>
void append_json(std::string& out, const std::vector<T>& all);
template <has_fields T>
void append_json(std::string& out, const T& object);
template <class T>
void append_json(std::string& out, const std::optional<T>& value) {
    append_json(out, *value);
}

// A bucket is [its shortest duration, its count].
inline void append_json(std::string& out, const histogram& h) {
    ((out += "{\"count\":") += std::to_string(h.count())) += ",\"sum\":";
    ((out += std::to_string(h.sum().count())) += ",\"max\":") += std::to_string((h.max)().count());
    out += ",\"buckets\":[";
    const char* comma = "";
    for (const histogram_bucket& b : h.buckets()) {
        ((out += comma) += '[') += std::to_string(b.least.count());
        ((out += ',') += std::to_string(b.count)) += ']';
        comma = ",";
    }
    out += "]}";
}

template <class T>
void append_json(std::string& out, const std::vector<T>& all) {
    out += '[';
    const char* comma = "";
    for (const T& each : all) {
        out += comma;
        append_json(out, each);
        comma = ",";
    }
    out += ']';
}

bool is_absent(const auto&) noexcept { return false; }
template <class T>
bool is_absent(const std::optional<T>& value) noexcept {
    return !value;
}

// An optional member without a value is left out.
template <has_fields T>
void append_json(std::string& out, const T& object) {
    char before = '{';
    each_field(object, [&](const char* name, const auto& member) {
        if (is_absent(member)) return;
        (((out += before) += '"') += name) += "\":";
        append_json(out, member);
        before = ',';
    });
    out += before == '{' ? "{}" : "}";
}

[[noreturn]] inline void refuse_json(const json_value& v, const std::string& why) {
    throw std::runtime_error("weir: this JSON is no run of a pipeline: at byte " + std::to_string(v.begin) +
                             " " + why);
}
inline void expect(const json_value& v, json_value::kind k, const char* what) {
    if (v.is != k) refuse_json(v, std::string("there should be ") + what);
}

inline void read_json(const json_value& v, std::string& into) {
    expect(v, json_value::kind::string, "a string");
    into = v.text;
}
inline void read_json(const json_value& v, bool& into) {
    expect(v, json_value::kind::boolean, "true or false");
    into = v.text == "true";
}
void read_json(const json_value& v, std::integral auto& into) {
    expect(v, json_value::kind::number, "a number");
    const char* const end = v.text.data() + v.text.size();
    const auto [last, error] = std::from_chars(v.text.data(), end, into);
    if (error != std::errc() || last != end) refuse_json(v, "the number " + v.text + " doesn't fit");
}
inline void read_json(const json_value& v, duration& into) {
    std::int64_t ns = 0;
    read_json(v, ns);
    if (ns < 0) refuse_json(v, "a time is negative");
    into = duration(ns);
}
inline void read_json(const json_value& v, output_order& into) {
    expect(v, json_value::kind::string, "a string");
    into = v.text == "input" ? output_order::input : output_order::completion;
}
template <class T>
void read_json(const json_value& v, std::vector<T>& into);
template <has_fields T>
void read_json(const json_value& v, T& into);

template <class T>
void read_json(const json_value& v, std::optional<T>& into) {
    read_json(v, into.emplace());
}
inline void read_json(const json_value& v, histogram& into) {
    expect(v, json_value::kind::object, "a histogram");
    std::uint64_t count = 0;
    duration sum{};
    duration max{};
    std::vector<std::vector<std::uint64_t>> pairs;
    for (std::size_t i = 0; i < v.keys.size(); ++i) {
        if (v.keys[i] == "count") read_json(v.items[i], count);
        if (v.keys[i] == "sum") read_json(v.items[i], sum);
        if (v.keys[i] == "max") read_json(v.items[i], max);
        if (v.keys[i] == "buckets") read_json(v.items[i], pairs);
    }
    std::vector<histogram_bucket> buckets;
    for (const auto& pair : pairs) {
        if (pair.size() != 2 || pair[0] > INT64_MAX) refuse_json(v, "a bucket isn't [duration, count]");
        buckets.push_back({duration(static_cast<std::int64_t>(pair[0])), duration(0), pair[1]});
    }
    try {
        into = histogram::of(buckets, count, sum, max);
    } catch (const std::invalid_argument& e) {
        refuse_json(v, e.what());
    }
}
template <class T>
void read_json(const json_value& v, std::vector<T>& into) {
    expect(v, json_value::kind::array, "an array");
    into.clear();
    into.reserve(v.items.size());
    for (const json_value& each : v.items) read_json(each, into.emplace_back());
}
template <has_fields T>
void read_json(const json_value& v, T& into) {
    expect(v, json_value::kind::object, "an object");
    each_field(into, [&v](const char* name, auto& member) {
        if (const json_value* const found = v.find(name)) read_json(*found, member);
    });
}

}  // namespace detail

/// \returns the run as one JSON object (UTF-8), on one line. Times are whole nanoseconds. A histogram is its
///          count, sum, maximum and the buckets that are not empty, each as [least, count]. Bytes that are
///          not valid UTF-8 become U+FFFD. The members are listed in include/weir/report/README.md.
/// Errors:  `std::bad_alloc`.
[[nodiscard]] inline std::string json_text(const run_record& run) {
    std::string text = "{\"schema\":\"" + std::string(detail::json_schema) + "\",";
    std::string members;
    detail::append_json(members, run);
    return text += std::string_view(members).substr(1);
}

/// \returns a run equal to the one that `json_text` wrote.
/// Errors: `std::runtime_error` if the text is not JSON, is not a run, or has a later schema.
[[nodiscard]] inline run_record run_from_json(std::string_view text) {
    const detail::json_value all = detail::json_reader(text).whole();
    const detail::json_value* const schema = all.find("schema");
    if (schema == nullptr || !schema->text.starts_with("weir.run/"))
        detail::refuse_json(all, "its \"schema\" is not that of weir.run");
    if (schema->text != detail::json_schema) {
        throw std::runtime_error("weir: this run is written in schema " + schema->text +
                                 ", which a later version of the library reads; this one reads " +
                                 detail::json_schema);
    }
    run_record run;
    detail::read_json(all, run);
    return run;
}

/// Writes `json_text(run)` to a file. The file is replaced as a whole or not at all.
/// Errors: `std::system_error`, with the path.
inline void write_json(const std::string& path, const run_record& run) {
    detail::output_file::replace(path, weir::json_text(run) + "\n");
}

/// \returns the run in a file that `write_json` wrote.
/// Errors: `std::system_error`, with the path, if the file can't be read; the errors of `run_from_json`.
[[nodiscard]] inline run_record read_run(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf())) throw std::system_error(errno, std::generic_category(), path);
    return weir::run_from_json(std::move(text).str());
}

}  // namespace weir

#endif
