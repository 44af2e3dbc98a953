// indicators contract: checks types and ranges
#include "indicators/contract/field_value.hpp"

#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace indicators {

namespace {

std::string kind_of(const json& value) {
    switch (value.type()) {
        case json::value_t::null:
            return "null";
        case json::value_t::boolean:
            return "true or false";
        case json::value_t::string:
            return "a text";
        case json::value_t::array:
            return "a list";
        case json::value_t::object:
            return "an object";
        case json::value_t::number_float:
            return "a number with a fraction or an exponent";
        default:
            return "a whole number";
    }
}

std::string with_unit(double number, const field& of) {
    return lab::exact_text(number) + (of.unit.empty() ? "" : " " + of.unit);
}

bool is_digits(const std::string& text, std::size_t from, std::size_t count) {
    return text.size() >= from + count &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                       text.begin() + static_cast<std::ptrdiff_t>(from + count),
                       [](char c) { return c >= '0' && c <= '9'; });
}

std::string out_of_range(const field& of, double number) {
    const auto wrong = [&](const char* what, double limit) {
        return "is " + with_unit(number, of) + ", and has to be " + what + " " + with_unit(limit, of);
    };
    if (of.at_least && number < *of.at_least) return wrong("at least", *of.at_least);
    if (of.at_most && number > *of.at_most) return wrong("at most", *of.at_most);
    if (of.above && number <= *of.above) return wrong("above", *of.above);
    if (of.below && number >= *of.below) return wrong("below", *of.below);
    return {};
}

}  // namespace

bool is_datetime(const std::string& text) {
    const bool plain = is_digits(text, 0, 4) && is_digits(text, 5, 2) && is_digits(text, 8, 2) &&
                       is_digits(text, 11, 2) && is_digits(text, 14, 2) && is_digits(text, 17, 2) &&
                       text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ' ') &&
                       text[13] == ':' && text[16] == ':';
    if (!plain) return false;
    const auto two = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
    if (two(5) < 1 || two(5) > 12 || two(8) < 1 || two(8) > 31 || two(11) > 23 || two(14) > 59 ||
        two(17) > 60)
        return false;
    std::size_t at = 19;
    if (at < text.size() && text[at] == '.') {
        const std::size_t digits = at + 1;
        at = std::min(text.find_first_not_of("0123456789", digits), text.size());
        if (at == digits) return false;
    }
    if (at == text.size() || text.substr(at) == "Z") return true;
    return (text[at] == '+' || text[at] == '-') && text.size() == at + 6 && is_digits(text, at + 1, 2) &&
           text[at + 3] == ':' && is_digits(text, at + 4, 2);
}

std::string take(const field& of, field_type type, const json& value, json& taken) {
    const bool is_whole = value.is_number_integer();
    const bool fits =
        !value.is_number_unsigned() ||
        value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    bool good = false;
    taken = value;
    switch (type) {
        case field_type::text:
            good = value.is_string();
            break;
        case field_type::boolean:
            good = value.is_boolean();
            break;
        case field_type::integer:
            good = is_whole && fits;
            if (is_whole && !fits) return "is " + value.dump() + ", which is more than 64 bits hold";
            break;
        case field_type::real:
            good = value.is_number() && fits && std::isfinite(value.get<double>());
            if (good) taken = value.get<double>();
            break;
        case field_type::datetime:
            good = value.is_string() && is_datetime(value.get<std::string>());
            break;
    }
    if (!good) {
        const bool is_nested = value.is_object() || value.is_array();
        return "has to be " + type_name(type) + ", and is " + kind_of(value) +
               (is_nested || value.is_null() ? ""
                : value.is_string()          ? ", " + shown(value.get<std::string>())
                                             : ", " + value.dump()) +
               (is_nested ? "; nested values have no column, put them beside @result" : "");
    }
    if (taken.is_number()) {
        if (std::string why = out_of_range(of, taken.get<double>()); !why.empty()) return why;
    }
    if (!of.one_of.empty() && std::find(of.one_of.begin(), of.one_of.end(), value) == of.one_of.end()) {
        std::vector<std::string> known;
        for (const json& one : of.one_of) known.push_back(lab::plain_text(one));
        return "is " + shown(lab::plain_text(value)) + "; it has to be one of " + lab::joined(known);
    }
    return {};
}

}  // namespace indicators
