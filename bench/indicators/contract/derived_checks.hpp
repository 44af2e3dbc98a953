// indicators contract: relations that must hold between the fields of a document
#ifndef INDICATORS_CONTRACT_DERIVED_CHECKS_HPP
#define INDICATORS_CONTRACT_DERIVED_CHECKS_HPP

#include "indicators/contract/model.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indicators {

// The checks of the model that `values` violate, each with a sentence that has their figures.
std::vector<std::pair<const derived_check*, std::string>> broken_checks(const model& of, const json& values,
                                                                        const std::optional<double>& score);

// Throws lab::input_error, with `file`, if a check is no SQL expression over the model's fields.
void prove_checks(const model& of, const std::string& file);

}  // namespace indicators

#endif
