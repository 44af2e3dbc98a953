// lab design: the factor file: the factors of a program, how each is set, and constraints between them
#ifndef LAB_DESIGN_FACTOR_FILE_HPP
#define LAB_DESIGN_FACTOR_FILE_HPP

#include "lab/data/factor.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lab {

// The way in which the value of a factor reaches the program; the default is the argument "--name={}".
struct application {
    std::string argument;  // "--qcap={}"; for an on/off factor {} is optional
    std::map<std::string, std::map<std::string, std::string>> environment;  // variable, level, value
    std::map<std::string, std::string> build;                 // level, flags for the build command
    std::map<std::string, std::vector<std::string>> wrapper;  // level, first words of the command
    std::map<std::string, std::string>
        settings;  // level, value of {NAME} in factor_file::settings; "": for all levels
};

// "a=x|y requires b=z", "a=x excludes b=y", "a >= b" (also <=, <, >); "a" alone means all of its values except
// the base.
struct constraint {
    enum class kind { requirement, exclusion, relation };
    std::string text;
    kind what = kind::relation;
    std::size_t first = 0;  // places of factors
    std::size_t second = 0;
    std::vector<double> first_values;  // for a requirement or an exclusion
    std::vector<double> second_values;
    std::string relation;  // for a relation: ">=", ...
    std::size_t line = 0;

    [[nodiscard]] bool holds(const configuration& values) const;
};

struct factor_file {
    std::string name;
    std::vector<factor> factors;
    std::vector<application> applications;  // one per factor
    std::vector<constraint> constraints;
    std::vector<std::string> command;  // the command, without the arguments of factors
    std::string settings;  // the text of a settings file, with {NAME} for a factor; {settings} is its path
    std::vector<std::string> build;  // builds a whole plot; {flags} and {folder} are replaced
    std::string score =
        "overall_score";            // path of the cost in the JSON ("@result.us_per_task"), or "last number"
    std::vector<std::string> also;  // paths of other numbers to keep
    bool more_is_better = false;

    // The first constraint that `values` violate; null if there is none.
    [[nodiscard]] const constraint* broken_by(const configuration& values) const;
    [[nodiscard]] bool allows(const configuration& values) const { return broken_by(values) == nullptr; }
    [[nodiscard]] configuration base() const;
};

// Parses the value of a factor; empty if there is no such level, or the number is out of its range.
std::optional<double> value_of(const factor& what, const std::string& text);
// "off, ring, file" or "a whole number from 1 to 4096".
std::string values_text(const factor& what);

// Throws input_error with file and line for: invalid JSON, an unknown member or factor, a level twice, a factor
// that conflicts with itself, constraints that no configuration satisfies, a base that they forbid.
factor_file read_factor_file(const std::string& path);
factor_file parse_factor_file(const std::string& text, const std::string& name);

}  // namespace lab

#endif
