// lab data: measured runs: their configurations and costs
#ifndef LAB_DATA_RUN_TABLE_HPP
#define LAB_DATA_RUN_TABLE_HPP

#include "lab/data/csv.hpp"
#include "lab/data/factor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct measured_run {
    configuration values;
    double cost = 0;
    double time = 0;       // Unix seconds; without times, the place in the file
    std::string plot;      // for plans with builds, the visit of a build (whole plot); else empty
    std::size_t line = 0;  // of the file
};

struct repeated_configuration {
    configuration values;
    std::vector<std::size_t> runs;  // places in run_table::runs
    double mean = 0;
};

struct run_table {
    std::string name;
    std::string cost_name;
    bool more_is_better = false;  // the cost is a rate
    bool has_times = false;
    std::vector<factor> factors;
    std::vector<measured_run> runs;
    std::size_t num_failed = 0;      // rows whose @status is not "ok"
    std::vector<std::string> notes;  // remarks: columns of one value, groups of columns

    [[nodiscard]] bool better(double a, double b) const { return more_is_better ? a > b : a < b; }
    // The place of a factor; throws input_error with a list of the factors.
    [[nodiscard]] std::size_t factor_of(const std::string& name) const;
    // The configuration in which every factor is at its base.
    [[nodiscard]] configuration base() const;
};

// In the order of their first runs.
std::vector<repeated_configuration> configurations_of(const run_table& table);

struct read_options {
    std::string file;
    std::string cost;  // default: the last column
    bool rate = false;
    std::vector<std::string> ignore;
    std::vector<std::string> levels;   // columns of numbers that are levels
    std::vector<std::string> log2;     // columns of numbers whose logarithm is used
    std::vector<std::string> bases;    // "column=value": the base of a column
    std::vector<std::string> without;  // runs with one of these treatments are left out
    std::string time;                  // column of Unix seconds; default "@time", if it exists
    bool no_groups = false;            // does not group columns of which exactly one is on
};

// All columns are factors, except the cost, ignored columns, and columns whose names begin with @. Of the latter,
// `@status` (all but "ok" means failed), `@time` and `@plot` are read. A column of one value is no factor. Columns
// of 0 and 1 of which exactly one is on in every row are one factor with these levels; the first is the base.
// Throws input_error with file and line for: no such column, a cost that is no number, NaN, an empty field, no run
// left.
run_table read_runs(const read_options& options);
run_table runs_of(const csv_file& file, const read_options& options);

}  // namespace lab

#endif
