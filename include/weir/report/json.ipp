// weir report, internal: bodies of the functions of report/json.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_IPP
#define WEIR_REPORT_JSON_IPP

#include <weir/report/json.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>       // for std::int64_t
#include <fstream>       // for std::ifstream
#include <sstream>       // for std::ostringstream
#include <stdexcept>     // for std::runtime_error
#include <system_error>  // for std::system_error
#include <utility>       // for std::move

namespace weir::detail {

WEIR_INLINE void append_json(std::string& out, const std::string& text) {
    append_json(out, std::string_view(text));
}

WEIR_INLINE void append_json(std::string& out, output_order order) {
    out += order == output_order::input ? "\"input\"" : "\"completion\"";
}

WEIR_INLINE void append_json(std::string& out, const histogram& h) {
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

WEIR_INLINE void refuse_json(const json_value& v, const std::string& why) {
    throw std::runtime_error("weir: this JSON is no run of a pipeline: at byte " + std::to_string(v.begin) +
                             " " + why);
}

WEIR_INLINE void expect(const json_value& v, json_value::kind k, const char* what) {
    if (v.is != k) refuse_json(v, std::string("there should be ") + what);
}

WEIR_INLINE void read_json(const json_value& v, std::string& into) {
    expect(v, json_value::kind::string, "a string");
    into = v.text;
}

WEIR_INLINE void read_json(const json_value& v, bool& into) {
    expect(v, json_value::kind::boolean, "true or false");
    into = v.text == "true";
}

WEIR_INLINE void read_json(const json_value& v, duration& into) {
    std::int64_t ns = 0;
    read_json(v, ns);
    if (ns < 0) refuse_json(v, "a time is negative");
    into = duration(ns);
}

WEIR_INLINE void read_json(const json_value& v, output_order& into) {
    expect(v, json_value::kind::string, "a string");
    into = v.text == "input" ? output_order::input : output_order::completion;
}

WEIR_INLINE void read_json(const json_value& v, histogram& into) {
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

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string json_text(const run_record& run) {
    std::string text = "{\"schema\":\"" + std::string(detail::json_schema) + "\",";
    std::string members;
    detail::append_json(members, run);
    return text += std::string_view(members).substr(1);
}

WEIR_INLINE run_record run_from_json(std::string_view text) {
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

WEIR_INLINE void write_json(const std::string& path, const run_record& run) {
    detail::output_file::replace(path, weir::json_text(run) + "\n");
}

WEIR_INLINE run_record read_run(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf())) throw std::system_error(errno, std::generic_category(), path);
    return weir::run_from_json(std::move(text).str());
}

}  // namespace weir

#endif
