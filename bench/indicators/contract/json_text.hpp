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
    bool is_json = false;           // else `document` is null
    indicators::refusals refusals;  // of what is JSON: keys that are there twice, numbers that are too large

    [[nodiscard]] bool good() const { return is_json && refusals.empty(); }
};

// One JSON document (RFC 8259) and nothing else: no text before or behind it, no second one, no key twice in one
// object, no NaN, no number that 64 bits don't hold, no bytes that are no UTF-8, no more levels than `most_levels`.
read_json read_json_text(std::string_view text, std::size_t most_levels = 100);

// In one line; bytes that are no UTF-8, as words of a command may have, are replaced.
std::string text_of_json(const json& document);

// The place of the first byte that is no UTF-8.
std::optional<std::size_t> first_byte_that_is_no_text(std::string_view text);

}  // namespace indicators

#endif
