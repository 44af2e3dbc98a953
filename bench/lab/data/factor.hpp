// lab data: a factor and its properties
#ifndef LAB_DATA_FACTOR_HPP
#define LAB_DATA_FACTOR_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lab {

// Anything that might make a program faster or slower. A configuration has one value for each factor, a double: of
// an on/off factor 0 or 1, of one with levels the level's index, else the number itself.
enum class factor_kind { on_off, levels, number };

struct factor {
    std::string name;
    factor_kind kind = factor_kind::on_off;
    // Names of the values; the first is the base, what a program does if nobody sets anything. On/off: as the data
    // write them, "0" and "1" unless known otherwise. A number: none.
    std::vector<std::string> levels{"0", "1"};
    // Each level was an on/off column of its own, of which exactly one is on: the levels have the columns' names.
    bool was_columns = false;
    // Of a number: what it goes from and to, its base, and whether its logarithm counts.
    double low = 0;
    double high = 1;
    double base = 0;
    bool logarithmic = false;
    bool integer = false;
    // From a factor file: how much of a change it is (P19: 1 safe, environment or configuration; 2 source without loss
    // of features; 3 configuration that disables features; 4 source that removes them), and what it does.
    int tier = 1;
    bool hard_to_change = false;  // a build: runs of one build share its luck
    std::string about;

    [[nodiscard]] bool is_number() const { return kind == factor_kind::number; }
    // Its base as a value; of what has levels that is always 0.
    [[nodiscard]] double base_value() const { return is_number() ? base : 0.0; }
    // "1", "file" or "4096".
    [[nodiscard]] std::string text_of(double value) const;
    // "affinity", or "log=file" and "qcap=64" where there is more than on and off; of columns their names.
    [[nodiscard]] std::string treatment(double value) const;
};

// The place of the factor of that name; nothing if there is none.
std::optional<std::size_t> place_of(const std::vector<factor>& factors, const std::string& name);
std::string names_of(const std::vector<factor>& factors);  // "a, b, c"

using configuration = std::vector<double>;  // one value a factor, in the order of the factors

// "cfg_a + cfg_qcap=64", or "(base)".
std::string configuration_text(const std::vector<factor>& factors, const configuration& values);

}  // namespace lab

#endif
