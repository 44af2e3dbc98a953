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
    double time = 0;       // unix seconds; its place in the file where the data don't say
    std::string plot;      // of a plan with builds: the visit of a build (whole plot); else empty
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
    bool more_is_better = false;  // what is measured is a rate
    bool has_times = false;
    std::vector<factor> factors;
    std::vector<measured_run> runs;
    std::size_t num_failed = 0;      // rows whose @status isn't "ok"
    std::vector<std::string> notes;  // what was noticed: columns of one value, groups of columns

    [[nodiscard]] bool better(double a, double b) const { return more_is_better ? a > b : a < b; }
    // Of `name`; throws input_error that lists the factors there are.
    [[nodiscard]] std::size_t factor_of(const std::string& name) const;
    // The configuration in which every factor is at its base.
    [[nodiscard]] configuration base() const;
};

// In the order in which each was first run.
std::vector<repeated_configuration> configurations_of(const run_table& table);

struct read_options {
    std::string file;
    std::string cost;  // the last column if not given
    bool rate = false;
    std::vector<std::string> ignore;
    std::vector<std::string> levels;   // columns of numbers to be taken as levels
    std::vector<std::string> log2;     // columns of numbers whose logarithm counts
    std::vector<std::string> bases;    // "column=value": the base of a column
    std::vector<std::string> without;  // runs in which one of these is on are left out
    std::string time;                  // column of unix seconds; "@time" if that is there
    bool no_groups = false;            // leave columns of which exactly one is on as they are
};

// All columns but the cost, the ignored and those whose name begins with @ are factors; of those `@status` (all but
// "ok" failed), `@time` and `@plot` are read. A column of one value is no factor. Columns of 0 and 1 of which exactly
// one is on in every row are one factor with these levels, the first being the base.
// Throws input_error with file and line: no such column, no number as cost, NaN, an empty field, no run left.
run_table read_runs(const read_options& options);
run_table runs_of(const csv_file& file, const read_options& options);

}  // namespace lab

#endif
