// indicators contract: checks whether a JSON value is valid for a field
#ifndef INDICATORS_CONTRACT_FIELD_VALUE_HPP
#define INDICATORS_CONTRACT_FIELD_VALUE_HPP

#include "indicators/contract/model.hpp"

#include <string>

namespace indicators {

// Returns "" and the value in the type of the field (a whole number becomes a number if the field needs that);
// or the reason why it is invalid.
std::string take(const field& of, field_type type, const json& value, json& taken);

// Accepts "2026-11-25T02:54:16", with an optional fraction of a second and an optional "Z" or "+01:00".
bool is_datetime(const std::string& text);

}  // namespace indicators

#endif
