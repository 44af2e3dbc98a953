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

// How a factor's value reaches the program; if nothing is said, as the argument "--name={}".
struct application {
    std::string argument;  // "--qcap={}"; of an on/off factor maybe no {}
    std::map<std::string, std::map<std::string, std::string>> environment;  // variable, level, value
    std::map<std::string, std::string> build;                 // level, what the build command gets
    std::map<std::string, std::vector<std::string>> wrapper;  // level, what the command begins with
    std::map<std::string, std::string>
        settings;  // level, what {NAME} is in factor_file::settings; "": of all
};

// "a=x|y requires b=z", "a=x excludes b=y", "a >= b" (also <=, <, >); "a" alone stands for all of its values but
// the base.
struct constraint {
    enum class kind { requirement, exclusion, relation };
    std::string text;
    kind what = kind::relation;
    std::size_t first = 0;  // places of factors
    std::size_t second = 0;
    std::vector<double> first_values;  // of a requirement or an exclusion
    std::vector<double> second_values;
    std::string relation;  // of a relation: ">=", ...
    std::size_t line = 0;

    [[nodiscard]] bool holds(const configuration& values) const;
};

struct factor_file {
    std::string name;
    std::vector<factor> factors;
    std::vector<application> applications;  // one a factor
    std::vector<constraint> constraints;
    std::vector<std::string> command;  // what is run, without the factors' arguments
    std::string settings;              // a file's text, with {NAME} for a factor; {settings} is its path
    std::vector<std::string> build;    // what builds a whole plot; {flags} and {folder} are filled in
    std::string score =
        "overall_score";            // where in its JSON the cost is ("@result.us_per_task"), or "last number"
    std::vector<std::string> also;  // where other numbers are that are kept beside it
    bool more_is_better = false;

    // The first constraint that `values` break; null if none.
    [[nodiscard]] const constraint* broken_by(const configuration& values) const;
    [[nodiscard]] bool allows(const configuration& values) const { return broken_by(values) == nullptr; }
    [[nodiscard]] configuration base() const;
};

// A factor's value out of its text; nothing if it has no such level, or the number is out of its range.
std::optional<double> value_of(const factor& what, const std::string& text);
// "off, ring, file" or "a whole number from 1 to 4096".
std::string values_text(const factor& what);

// Throws input_error with file and line: no JSON, an unknown member or factor, a level twice, a factor that conflicts
// with itself, constraints that no configuration satisfies, a base that they forbid.
factor_file read_factor_file(const std::string& path);
factor_file parse_factor_file(const std::string& text, const std::string& name);

}  // namespace lab

#endif
