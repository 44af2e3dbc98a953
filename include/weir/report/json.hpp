// weir report: a run as JSON, and back
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_HPP
#define WEIR_REPORT_JSON_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/fields.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/stage_options.hpp>

#include <charconv>     // for std::from_chars
#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::runtime_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// A JSON value, with all values inside it. Owns its text. In an object, `keys[i]` is the key of `items[i]`.
struct json_value {
    enum class kind { null, boolean, number, string, array, object };

    kind is = kind::null;
    std::string text;               // a string's characters; a number as written; `true` or `false`
    std::vector<json_value> items;  // the elements of an array, or the values of an object
    std::vector<std::string> keys;  // the keys of an object
    std::size_t begin = 0;          // the byte of the whole JSON text at which the value begins, for errors

    // \returns the value with this key; if several values have the key, the last of them; null if none has.
    const json_value* find(std::string_view key) const noexcept {
        for (std::size_t i = keys.size(); i-- != 0;) {
            if (keys[i] == key) return &items[i];
        }
        return nullptr;
    }
};

// A recursive-descent parser for a text that is one JSON value.
//
//     const json_value run = json_reader(R"({"laps": [10, 20]})").whole();
//     run.find("laps")->items[1].text;  // "20"
//
// Errors:   `std::runtime_error`, which says what is wrong at which byte.
// Lifetime: the text outlives the reader, but need not outlive the value.
class json_reader {
  public:
    explicit json_reader(std::string_view text) noexcept : text_(text) {}

    // \returns the value. An error if anything but white space follows. To be called once.
    json_value whole() {
        json_value all = value(0);
        skip_whitespace();
        if (at_ != text_.size()) fail("something follows the value");
        return all;
    }

  private:
    // How deep arrays and objects may be nested: each level takes stack. RFC 8259 allows a limit (section 9).
    static constexpr int max_depth = 64;

    // The functions below read the text from the byte `at_` on. `consume` advances `at_` behind the argument;
    // it returns false, and consumes nothing, if the text does not continue with the argument.
    [[noreturn]] void fail(const char* what) const {
        throw std::runtime_error("weir: this is no JSON: at byte " + std::to_string(at_) + " " + what);
    }
    bool is_at(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }
    bool consume(char c) noexcept {
        if (!is_at(c)) return false;
        ++at_;
        return true;
    }
    bool consume(std::string_view word) noexcept {
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }
    void skip_whitespace() noexcept {
        while (is_at(' ') || is_at('\n') || is_at('\r') || is_at('\t')) ++at_;
    }

    // Each function below that reads the text reads a part of the grammar: the comments name the sections of
    // RFC 8259. Such a function throws if the text breaks the grammar; only `digits` returns false.

    // Section 3: an object, an array, a string, a number, true, false or null.
    json_value value(int depth);

    // Sections 4 and 5: the members of an object, or the elements of an array, and the bracket `end`. The
    // opening bracket is consumed already. A comma directly before `end` is an error.
    void elements(json_value& of, char end, int depth);

    // Section 6: sign, digits, fraction, exponent. Returns the text. A digit behind a leading zero is not
    // consumed: `elements` or `whole` then throws.
    std::string number();
    // Moves behind all digits; false if there is none.
    bool digits() noexcept {
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        return at_ != begin;
    }

    // Section 7: characters and escapes, and the closing quote. The opening quote is consumed already.
    // Returns UTF-8.
    std::string string();
    // Reads an escape, whose backslash is consumed already, and appends its character in UTF-8. A character
    // above U+FFFF is written as two escapes, a surrogate pair.
    void escaped(std::string& s);
    std::uint32_t code_unit();  // four hexadecimal digits
    static void append_utf8(std::string& s, std::uint32_t c);

    std::string_view text_;
    std::size_t at_ = 0;  // the byte that is read next
};

// The schema that `json_text` writes and `run_from_json` reads. A schema that only gains members keeps its
// number: the reader ignores members that it does not know, and gives missing members their default values.
// But a `task_sample` is an array: if its number of values changes, the schema needs another number.
inline constexpr const char* json_schema = "weir.run/1";

// Appends a value as JSON. Members of objects have the names and the order of `each_field` (fields.hpp).
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
// Appends the number of nanoseconds.
inline void append_json(std::string& out, duration d) { out += std::to_string(d.count()); }
void append_json(std::string& out, output_order order);

template <class T>
void append_json(std::string& out, const std::vector<T>& all);
template <has_fields T>
void append_json(std::string& out, const T& object);
template <class T>
void append_json(std::string& out, const std::optional<T>& value) {
    append_json(out, *value);
}

// Appends an array of the members' values, without names, because a run has many of these objects.
void append_json(std::string& out, const task_sample& one);
// A bucket is [its shortest duration, its count].
void append_json(std::string& out, const histogram& h);

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

// Throws `std::runtime_error`: at the byte where `v` begins, the text isn't a run, because of `why`.
[[noreturn]] void refuse_json(const json_value& v, const std::string& why);
// Refuses a value of another kind than `k`. `what`: this kind in words.
void expect(const json_value& v, json_value::kind k, const char* what);

// Read into the object a value that `append_json` wrote. Call `refuse_json` if `v` is another value.
void read_json(const json_value& v, std::string& into);
void read_json(const json_value& v, bool& into);
void read_json(const json_value& v, std::integral auto& into) {
    expect(v, json_value::kind::number, "a number");
    const char* const end = v.text.data() + v.text.size();
    const auto [last, error] = std::from_chars(v.text.data(), end, into);
    if (error != std::errc() || last != end) refuse_json(v, "the number " + v.text + " doesn't fit");
}
void read_json(const json_value& v, duration& into);
void read_json(const json_value& v, output_order& into);
template <class T>
void read_json(const json_value& v, std::vector<T>& into);
template <has_fields T>
void read_json(const json_value& v, T& into);

template <class T>
void read_json(const json_value& v, std::optional<T>& into) {
    read_json(v, into.emplace());
}
void read_json(const json_value& v, task_sample& into);
void read_json(const json_value& v, task_samples& into);
void read_json(const json_value& v, histogram& into);
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

inline void append_json(std::string& out, const task_sample& one) {
    char before = '[';
    each_field(one, [&](const char*, const auto& member) {
        out += before;
        append_json(out, member);
        before = ',';
    });
    out += ']';
}

inline void read_json(const json_value& v, task_sample& into) {
    expect(v, json_value::kind::array, "an array");
    std::string names;
    std::size_t count = 0;
    each_field(into, [&](const char* name, auto& member) {
        if (count < v.items.size()) read_json(v.items[count], member);
        names += (count++ == 0 ? "" : ", ") + std::string(name);
    });
    if (v.items.size() != count) refuse_json(v, "an invocation isn't [" + names + "]");
}

inline void read_json(const json_value& v, task_samples& into) {
    expect(v, json_value::kind::object, "a sample of invocations");
    read_json<task_samples>(v, into);
    if (into.one_in == 0 || (into.one_in & (into.one_in - 1)) != 0) {
        refuse_json(v, "a sample is of one in " + std::to_string(into.one_in) +
                           " invocations, and should be of one in a power of two");
    }
}

}  // namespace detail

/// \returns the run as one JSON object (UTF-8), on one line. Times are whole nanoseconds. A histogram is its
///          count, sum, maximum and the buckets that are not empty, each as [least, count]. Bytes that are
///          not valid UTF-8 become U+FFFD. The members are listed in include/weir/report/README.md. The
///          member `verdict` (what limits the rate) is made from the others, and is not read back; without a
///          `brief_verdict` it is left out.
/// Errors:  `std::bad_alloc`. Cost: that of `brief_verdict`, and of the text.
[[nodiscard]] std::string json_text(const run_record& run);

/// \returns a run equal to the one that `json_text` wrote, except for bytes that were not valid UTF-8.
/// Errors: `std::runtime_error` if the text is not JSON, is not a run, or has a later schema.
[[nodiscard]] run_record run_from_json(std::string_view text);

/// Writes `json_text(run)` to a file. The file is replaced as a whole or not at all.
/// Errors: `std::system_error`, with the path.
void write_json(const std::string& path, const run_record& run);

/// \returns the run in a file that `write_json` wrote, which may be a named pipe. The path is UTF-8, on
///          Windows, too.
/// Errors: `std::system_error`, with the path, if the file can't be read; the errors of `run_from_json`.
/// Cost: 30 KiB of memory per lap for each stage and its queue: a histogram takes 10 KiB.
[[nodiscard]] run_record read_run(const std::string& path);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/json.ipp>
#endif

#endif
