// simulate: the exception for a mistake in a spec, and numbers with bounds.
// A mistake names the field; the reader of the file adds file and line.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_NUMBERS_HPP
#define WEIR_EXAMPLES_SIMULATE_NUMBERS_HPP

#include <nlohmann/json.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string

namespace simulate {

namespace detail {

using json = nlohmann::json;

// A mistake in a value, without file and line.
struct mistake {
    std::string field;
    std::string why;
};

// Times are nanoseconds in 64 bits; this bound (eleven days) keeps their sums in range as well.
inline constexpr std::int64_t max_time = 1'000'000'000'000'000;
inline constexpr std::int64_t max_concurrency = 10'000;
inline constexpr std::int64_t max_capacity = 1'000'000;
inline constexpr std::uint64_t max_stages = 1'000;
inline constexpr std::int64_t max_size = 1'000'000;
inline constexpr std::int64_t max_weight = 1'000'000;
inline constexpr std::int64_t max_items = 1'000'000'000'000'000'000;

// A value for a message, shortened if it is long.
inline std::string shown(const json& value) {
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
}

// `path`: of the field.
inline std::int64_t to_integer(const json& value, const std::string& path, std::int64_t least,
                               std::int64_t most) {
    if (!value.is_number_integer()) {
        throw mistake{path,
                      "must be a whole number, written without '.' and exponent (is " + shown(value) + ")"};
    }
    // The library keeps a number above INT64_MAX as unsigned; a cast would make it negative.
    const bool huge =
        value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    if (!huge && value.get<std::int64_t>() < least) {
        throw mistake{path, least == 0
                                ? "must not be negative (is " + shown(value) + ")"
                                : "must be at least " + std::to_string(least) + " (is " + shown(value) + ")"};
    }
    if (huge || value.get<std::int64_t>() > most) {
        throw mistake{path, "must be at most " + std::to_string(most) + " (is " + shown(value) + ")"};
    }
    return value.get<std::int64_t>();
}

inline double to_number(const json& value, const std::string& path, double least, double most) {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (value.is_number() && number >= least && number <= most) return number;
    throw mistake{path, "must be a number from " + json(least).dump() + " to " + json(most).dump() + " (is " +
                            shown(value) + ")"};
}

}  // namespace detail

}  // namespace simulate

#endif
