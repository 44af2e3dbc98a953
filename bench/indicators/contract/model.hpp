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
    // What the type was in documents of the first generation, which say `framework`; most often the same.
    field_type type_of_framework = field_type::text;
    bool is_result = false;
    bool optional = false;
    std::string unit;
    // Of a parameter. "workload": what is asked for; runs that differ in it are not compared. "choice": what a user may
    // choose. "effort": how long is measured, which changes nothing.
    std::string role = "workload";
    std::optional<double> at_least;
    std::optional<double> at_most;
    std::optional<double> above;
    std::optional<double> below;
    std::vector<json> one_of;
    std::string was;  // what it was called in older documents, which are read all the same
    json before;      // what it was in documents from before it was declared; null: nobody knows
    std::string about;

    [[nodiscard]] bool has_two_types() const { return type != type_of_framework; }
};

// A relation between fields, as SQL: `holds` is true or false; `equal` are two expressions, equal but for `within`
// of the larger one. It is left out where a field is absent. Documents that break it are refused, or, in doubt,
// noted.
struct derived_check {
    std::string holds;
    std::vector<std::string> equal;
    double within = 1e-6;
    std::string because;
    bool only_a_doubt = false;

    // One expression that is true, false or NULL.
    [[nodiscard]] std::string sql() const;
    // "rate * elapsed = operations".
    [[nodiscard]] std::string text() const;
};

struct model {
    std::string name;
    std::string about;
    bool is_abstract = false;   // only there to be extended
    std::vector<field> fields;  // parameters first
    std::vector<derived_check> checks;
    std::string score_field = "overall_score";  // what configurations are ranked by
    bool more_is_better = true;
    json declaration;  // without `extends`

    [[nodiscard]] const field* find(const std::string& field_name) const;
    // The one that had this name before.
    [[nodiscard]] const field* find_older(const std::string& field_name) const;
    [[nodiscard]] std::string table() const;               // "indicator_of_pi_conv1d"
    [[nodiscard]] std::vector<std::string> names() const;  // of all fields
};

// Throws lab::input_error, with `file` and the path, if that is no declaration. `base`: the model that it extends.
model model_of(const json& declaration, const model* base, const std::string& file);

// Keys that a runner or the contract itself gives a meaning.
bool is_reserved(const std::string& key);
std::string type_name(field_type type);  // "a whole number"

}  // namespace indicators

#endif
