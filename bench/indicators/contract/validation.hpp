// indicators contract: checks whether a document is an indicator of its model
#ifndef INDICATORS_CONTRACT_VALIDATION_HPP
#define INDICATORS_CONTRACT_VALIDATION_HPP

#include "indicators/contract/registry.hpp"

#include <optional>
#include <string>

namespace indicators {

struct indicator_document {
    const model* of = nullptr;  // in the registry, which must outlive this
    std::string name;
    std::string component;   // in lower case, from either of its two names
    std::string generation;  // "component", or "framework" for the first generation
    std::optional<std::string> version;
    std::optional<double> score;   // overall_score
    json values = json::object();  // all declared fields in the document, with their types
    json extra = json::object();   // undeclared members of @parameters and @result, if they are accepted
};

struct validation {
    indicator_document document;    // the part that was understood
    indicators::refusals refusals;  // all reasons, not only the first; empty: accepted
    indicators::refusals doubts;    // reasons to doubt an accepted document
};

struct validation_options {
    bool keep_extra = false;  // undeclared members of @parameters and @result are kept, not refused
    bool is_older = false;  // missing fields have the values that their declarations give for older documents
};

// `at` is the path of the document in its source, as "$.stdout".
validation validate(const json& document, const registry& models, const validation_options& how,
                    const std::string& at = "$");

}  // namespace indicators

#endif
