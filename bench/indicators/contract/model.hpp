// indicators contract: a model: the parameters and results of one indicator
#ifndef INDICATORS_CONTRACT_MODEL_HPP
#define INDICATORS_CONTRACT_MODEL_HPP

#include "indicators/contract/json_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indicators {

enum class field_type { text, integer, real, boolean, datetime };

struct field {
    std::string name;
    field_type type = field_type::text;
    // The type in documents of the first generation, which say `framework`; usually the same.
    field_type type_of_framework = field_type::text;
    bool is_result = false;
    bool optional = false;
    std::string unit;
    // The role of a parameter. "workload": the requested work; runs with different workloads are not compared.
    // "choice": something that a user may choose. "effort": how long is measured, which changes no result.
    std::string role = "workload";
    std::optional<double> at_least;
    std::optional<double> at_most;
    std::optional<double> above;
    std::optional<double> below;
    std::vector<json> one_of;
    std::string was;  // its name in older documents, which are still read
    json before;      // its value in documents older than its declaration; null: unknown
    std::string about;

    [[nodiscard]] bool has_two_types() const { return type != type_of_framework; }
};

// A relation between fields, as SQL: `holds` is true or false; `equal` has two expressions that differ by at
// most `within` of the larger one. It is skipped if a field is absent. Documents that violate it are refused,
// or, with `doubt`, marked.
struct derived_check {
    std::string holds;
    std::vector<std::string> equal;
    double within = 1e-6;
    std::string because;
    bool only_a_doubt = false;

    // The check as one expression that is true, false or NULL.
    [[nodiscard]] std::string sql() const;
    // "rate * elapsed = operations".
    [[nodiscard]] std::string text() const;
};

struct model {
    std::string name;
    std::string about;
    bool is_abstract = false;   // can only be extended
    std::vector<field> fields;  // parameters first
    std::vector<derived_check> checks;
    std::string score_field = "overall_score";  // the field that ranks configurations
    bool more_is_better = true;
    json declaration;  // without `extends`

    [[nodiscard]] const field* find(const std::string& field_name) const;
    // The field that had this name before.
    [[nodiscard]] const field* find_older(const std::string& field_name) const;
    [[nodiscard]] std::string table() const;               // "indicator_of_pi_conv1d"
    [[nodiscard]] std::vector<std::string> names() const;  // of all fields
};

// Reads a declaration. Throws lab::input_error with `file` and the path if it is invalid. `base` is the model
// that it extends.
model model_of(const json& declaration, const model* base, const std::string& file);

// Keys with a meaning for runners or the contract.
bool is_reserved(const std::string& key);
std::string type_name(field_type type);  // "a whole number"

}  // namespace indicators

#endif
