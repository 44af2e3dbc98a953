// indicators contract: checks whether a document is an indicator of its model
#ifndef INDICATORS_CONTRACT_VALIDATION_HPP
#define INDICATORS_CONTRACT_VALIDATION_HPP

#include "indicators/contract/registry.hpp"

#include <optional>
#include <string>

namespace indicators {

struct indicator_document {
    const model* of = nullptr;  // in the registry, which has to outlive this
    std::string name;
    std::string component;   // in lower case, whichever of its two names it had
    std::string generation;  // "component", or "framework": the first one
    std::optional<std::string> version;
    std::optional<double> score;   // overall_score
    json values = json::object();  // of all declared fields that are there, with their types
    json extra =
        json::object();  // of @parameters and @result, what isn't declared; only if that is let through
};

struct validation {
    indicator_document document;    // as far as it was understood
    indicators::refusals refusals;  // all of them, not the first alone; empty: it is accepted
    indicators::refusals doubts;    // what is accepted, and looks wrong
};

struct validation_options {
    bool keep_extra =
        false;              // members of @parameters and @result that no model declares are kept, not refused
    bool is_older = false;  // a field that is missing is what its declaration says that it was before
};

// `at` is where the document is in what was read, as "$.stdout".
validation validate(const json& document, const registry& models, const validation_options& how,
                    const std::string& at = "$");

}  // namespace indicators

#endif
