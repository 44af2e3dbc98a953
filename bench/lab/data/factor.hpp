// lab data: a factor and its properties
#ifndef LAB_DATA_FACTOR_HPP
#define LAB_DATA_FACTOR_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lab {

// A setting that may make a program faster or slower. A configuration has one double for each factor: 0 or 1 for an
// on/off factor, the index of the level for a factor with levels, otherwise the number itself.
enum class factor_kind { on_off, levels, number };

struct factor {
    std::string name;
    factor_kind kind = factor_kind::on_off;
    // Names of the values; the first is the base, the value of a program without settings. For on/off factors the
    // names in the data, by default "0" and "1". Empty for a number.
    std::vector<std::string> levels{"0", "1"};
    // True if each level was an on/off column of which exactly one is on; the levels have the names of the columns.
    bool was_columns = false;
    // For a number: its range, its base, and whether its logarithm is used.
    double low = 0;
    double high = 1;
    double base = 0;
    bool logarithmic = false;
    bool integer = false;
    // From a factor file: the size of the change (P19: 1 safe, environment or configuration; 2 source without loss
    // of features; 3 configuration that disables features; 4 source that removes them), and a description.
    int tier = 1;
    bool hard_to_change = false;  // a build: runs of one build are correlated
    std::string about;

    [[nodiscard]] bool is_number() const { return kind == factor_kind::number; }
    // The base as a value; always 0 for a factor with levels.
    [[nodiscard]] double base_value() const { return is_number() ? base : 0.0; }
    // "1", "file" or "4096".
    [[nodiscard]] std::string text_of(double value) const;
    // "affinity" for an on/off factor, otherwise "log=file" or "qcap=64"; for grouped columns their names.
    [[nodiscard]] std::string treatment(double value) const;
};

// The place of the factor with this name; empty if there is none.
std::optional<std::size_t> place_of(const std::vector<factor>& factors, const std::string& name);
std::string names_of(const std::vector<factor>& factors);  // "a, b, c"

using configuration = std::vector<double>;  // one value per factor, in the order of the factors

// "cfg_a + cfg_qcap=64", or "(base)".
std::string configuration_text(const std::vector<factor>& factors, const configuration& values);

}  // namespace lab

#endif
