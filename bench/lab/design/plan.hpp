// lab design: a plan: the configurations to run and their order; a file that can be replayed
#ifndef LAB_DESIGN_PLAN_HPP
#define LAB_DESIGN_PLAN_HPP

#include "lab/data/csv.hpp"
#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct planned_run {
    configuration values;
    std::size_t block = 0;  // each block has each configuration once: repetitions are spread over time
    std::string plot;       // the visit of a build; empty if no factor is hard to change
    std::string
        control;  // "A" or "B" of an A/A pair, which runs one configuration under two names; else empty
    std::size_t line = 0;  // of the file
};

// The CSV has the columns @block, @plot, @control, and one per factor with the texts of its values. Runs are in
// their order.
struct plan {
    std::string name;
    std::vector<factor> factors;
    std::vector<planned_run> runs;
};

std::string plan_text(const plan& what);
// Reads any CSV with columns of `file`'s factors; missing factors are at their base, and columns with @ are
// optional. Throws input_error with file and line for: an unknown column or level, a number out of its range, a
// row that violates a constraint.
plan plan_of(const csv_file& rows, const factor_file& file);
plan read_plan(const std::string& path, const factor_file& file);

// Parses "log=file,qcap=64": the base with these changes. Throws input_error.
configuration configuration_in(const std::string& text, const factor_file& file);

}  // namespace lab

#endif
