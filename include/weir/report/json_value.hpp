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

// One value, with everything inside of it.
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

// Reads a text that holds one value.
// Errors: `std::runtime_error`, which says what is wrong at which byte.
class json_reader {
  public:
    explicit json_reader(std::string_view text) noexcept : text_(text) {}

    json_value whole();

  private:
    static constexpr int deepest = 64;

    [[noreturn]] void fail(const char* what) const;
    bool is_at(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }
    bool takes(char c) noexcept;
    void skip() noexcept;

    json_value value(int depth);

    void elements(json_value& of, char end, int depth);

    bool literal(std::string_view w) noexcept;

    bool digits() noexcept;
    std::string number();

    std::string string();
    void escaped(std::string& s);
    std::uint32_t code_unit();
    static void append_utf8(std::string& s, std::uint32_t c);

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/json_value.ipp>
#endif

#endif
