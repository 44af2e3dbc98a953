// weir report, internal: a reader of JSON (RFC 8259), for runs that were stored
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_JSON_VALUE_HPP
#define WEIR_REPORT_JSON_VALUE_HPP

#include <weir/report/escape.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

// One value, with all values inside it. Owns its text. In an object, `keys[i]` is the key of `items[i]`.
struct json_value {
    enum class kind { null, boolean, number, string, array, object };

    kind is = kind::null;
    std::string text;               // a string's characters; a number as written; `true` or `false`
    std::vector<json_value> items;  // the elements of an array, or the values of an object
    std::vector<std::string> keys;  // the keys of an object
    std::size_t begin = 0;          // byte of the text at which the value begins

    // \returns the value of that key, the last one if there are several; null if there is none.
    const json_value* find(std::string_view key) const noexcept;
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
    json_value whole();

  private:
    // How deep arrays and objects may be nested: each level takes stack. RFC 8259 allows a limit (section 9).
    static constexpr int max_depth = 64;

    // All functions begin at the byte `at_`. `consume` moves behind the given text, and returns false if
    // another text is there.
    [[noreturn]] void fail(const char* what) const;
    bool is_at(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }
    bool consume(char c) noexcept;
    bool consume(std::string_view word) noexcept;
    void skip_whitespace() noexcept;

    // The grammar, with the sections of RFC 8259. Each function throws if the text doesn't fit, but `digits`.

    // Section 3: an object, an array, a string, a number, true, false or null.
    json_value value(int depth);

    // Sections 4 and 5: the members of an object, or the elements of an array, and the bracket `end`. The
    // opening bracket is consumed already. A comma directly before `end` is an error.
    void elements(json_value& of, char end, int depth);

    // Section 6: sign, digits, fraction, exponent. No digit follows a leading zero. Returns the text.
    std::string number();
    bool digits() noexcept;  // false if there is none

    // Section 7: characters and escapes, and the closing quote. The opening quote is consumed already.
    // Returns UTF-8.
    std::string string();
    // The backslash is consumed already. A character above U+FFFF is written as two escapes, a surrogate
    // pair. Appends UTF-8.
    void escaped(std::string& s);
    std::uint32_t code_unit();  // four hexadecimal digits
    static void append_utf8(std::string& s, std::uint32_t c);

    std::string_view text_;
    std::size_t at_ = 0;  // the byte that is read next
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/json_value.ipp>
#endif

#endif
