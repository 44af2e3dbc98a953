// indicators contract: a strict reader of JSON
#ifndef INDICATORS_CONTRACT_JSON_TEXT_HPP
#define INDICATORS_CONTRACT_JSON_TEXT_HPP

#include "indicators/contract/refusal.hpp"
#include "lab/data/document.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace indicators {

using lab::json;

struct read_json {
    json document;
    bool is_json = false;  // else `document` is null
    indicators::refusals
        refusals;  // problems of valid JSON: keys that occur twice, numbers that are too large

    [[nodiscard]] bool good() const { return is_json && refusals.empty(); }
};

// Parses exactly one JSON document (RFC 8259): no text before or after it, no key twice in one object, no NaN,
// no number beyond 64 bits, only UTF-8, and at most `most_levels` levels.
read_json read_json_text(std::string_view text, std::size_t most_levels = 100);

// Prints in one line. Bytes that are not UTF-8, which words of a command may have, are replaced.
std::string text_of_json(const json& document);

// The place of the first byte that is not UTF-8.
std::optional<std::size_t> first_byte_that_is_no_text(std::string_view text);

}  // namespace indicators

#endif
