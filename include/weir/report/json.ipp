// weir report, internal: bodies of the functions of report/json.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_IPP
#define WEIR_REPORT_JSON_IPP

#include <weir/report/json.hpp>

#include <weir/insight/verdict.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/system_files.hpp>
#include <weir/report/log.hpp>

#include <cerrno>        // for errno
#include <cstdint>       // for std::int64_t
#include <cstdio>        // for std::FILE, std::fread
#include <memory>        // for std::unique_ptr
#include <system_error>  // for std::errc, std::system_error

namespace weir::detail {

WEIR_INLINE json_value json_reader::value(int depth) {
    if (depth > max_depth) fail("it is nested too deeply");
    skip_whitespace();
    json_value v;
    v.begin = at_;
    if (consume('{')) {
        v.is = json_value::kind::object;
        elements(v, '}', depth);
    } else if (consume('[')) {
        v.is = json_value::kind::array;
        elements(v, ']', depth);
    } else if (consume('"')) {
        v.is = json_value::kind::string;
        v.text = string();
    } else if (consume("null")) {  // `v` is null already
    } else if (consume("true") || consume("false")) {
        v.is = json_value::kind::boolean;
        v.text = text_.substr(v.begin, at_ - v.begin);
    } else {
        v.is = json_value::kind::number;
        v.text = number();
    }
    return v;
}

WEIR_INLINE void json_reader::elements(json_value& of, char end, int depth) {
    skip_whitespace();
    if (consume(end)) return;
    do {
        if (of.is == json_value::kind::object) {
            skip_whitespace();
            if (!consume('"')) fail("a key in quotes is missing");
            of.keys.push_back(string());
            skip_whitespace();
            if (!consume(':')) fail("a colon is missing");
        }
        of.items.push_back(value(depth + 1));
        skip_whitespace();
    } while (consume(','));
    if (!consume(end)) fail("a comma or the end is missing");
}

WEIR_INLINE std::string json_reader::number() {
    const std::size_t begin = at_;
    consume('-');
    if (!consume('0') && !digits()) fail("a value is missing");
    if (consume('.') && !digits()) fail("a digit is missing");
    if (consume('e') || consume('E')) {
        if (!consume('+')) consume('-');
        if (!digits()) fail("a digit is missing");
    }
    return std::string(text_.substr(begin, at_ - begin));
}

WEIR_INLINE std::string json_reader::string() {
    std::string s;
    while (!consume('"')) {
        const std::size_t n = utf8_length(text_.substr(at_));
        if (at_ == text_.size()) fail("the string doesn't end");
        if (n == 0) fail("the string is no UTF-8");
        if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("the string has a control character");
        if (consume('\\')) {
            escaped(s);
        } else {
            s += text_.substr(at_, n);
            at_ += n;
        }
    }
    return s;
}

WEIR_INLINE void json_reader::escaped(std::string& s) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view values = "\"\\/\b\f\n\r\t";
    const std::size_t which = at_ < text_.size() ? names.find(text_[at_]) : names.npos;
    if (which != names.npos) {
        ++at_;
        s += values[which];
        return;
    }
    if (!consume('u')) fail("this is no escape");
    std::uint32_t c = code_unit();
    if (c >= 0xD800 && c < 0xDC00) {
        if (!consume("\\u")) fail("half of a character is missing");
        const std::uint32_t low = code_unit();
        if (low < 0xDC00 || low >= 0xE000) fail("half of a character is missing");
        c = 0x10000 + ((c - 0xD800) << 10U) + (low - 0xDC00);
    } else if (c >= 0xDC00 && c < 0xE000) {
        fail("half of a character is missing");
    }
    append_utf8(s, c);
}

WEIR_INLINE std::uint32_t json_reader::code_unit() {
    std::uint32_t c = 0;
    const std::string_view hex = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), c, 16);
    if (hex.size() < 4 || error != std::errc() || end != hex.data() + 4) fail("this is no escape");
    at_ += 4;
    return c;
}

WEIR_INLINE void json_reader::append_utf8(std::string& s, std::uint32_t c) {
    const auto byte = [&s](std::uint32_t b) { s += static_cast<char>(b); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
        byte(0xC0U | (c >> 6U));
    } else {
        if (c < 0x10000) {
            byte(0xE0U | (c >> 12U));
        } else {
            byte(0xF0U | (c >> 18U));
            byte(0x80U | ((c >> 12U) & 0x3FU));
        }
        byte(0x80U | ((c >> 6U) & 0x3FU));
    }
    byte(0x80U | (c & 0x3FU));
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
    if (v.text != "input" && v.text != "completion")
        refuse_json(v, "an order is neither input nor completion");
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
    if (const std::optional<verdict> v = brief_verdict(run.total))
        text += "\"verdict\":" + detail::verdict_json(*v) + ",";
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
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(detail::open_input(path.c_str()), close);
    std::string text;
    char part[4096];
    for (std::size_t n = 1; file != nullptr && n != 0; text.append(part, n))
        n = std::fread(part, 1, sizeof part, file.get());
    if (file == nullptr || std::ferror(file.get()) != 0)
        throw std::system_error(errno, std::generic_category(), path);
    return weir::run_from_json(text);
}

}  // namespace weir

#endif
