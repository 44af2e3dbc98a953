// indicators contract: checks whether a JSON value is valid for a field
#ifndef INDICATORS_CONTRACT_FIELD_VALUE_HPP
#define INDICATORS_CONTRACT_FIELD_VALUE_HPP

#include "indicators/contract/model.hpp"

#include <string>

namespace indicators {

// "" and the value as the field has it, a whole number widened to a number where that is asked for; or why it is none.
std::string take(const field& of, field_type type, const json& value, json& taken);

// "2026-11-25T02:54:16", with a fraction of a second and "Z" or "+01:00" behind it if it has them.
bool is_datetime(const std::string& text);

}  // namespace indicators

#endif
