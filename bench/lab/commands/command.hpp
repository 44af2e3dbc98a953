// lab commands: what the commands share: the program's arguments, and how an answer is shown
#ifndef LAB_COMMANDS_COMMAND_HPP
#define LAB_COMMANDS_COMMAND_HPP

#include "lab/data/document.hpp"
#include "lab/data/run_table.hpp"

#include <CLI/CLI.hpp>

namespace lab {

// Each adds its subcommand, whose callback does the work; input_error ends the program with 2. A command whose
// answer is a verdict throws CLI::RuntimeError(status) once it is printed.
void add_plan(CLI::App& app);
void add_run(CLI::App& app);
void add_deltas(CLI::App& app);
void add_fit(CLI::App& app);
void add_paths(CLI::App& app);
void add_pca(CLI::App& app);
void add_search(CLI::App& app);
void add_compare(CLI::App& app);
void add_history(CLI::App& app);
void add_plot(CLI::App& app);

// FILE and the options that say what of it is the cost, a factor, or neither.
struct data_arguments {
    read_options read;
    std::string factors;  // a factor file
    bool as_json = false;
};
void add_data_arguments(CLI::App& command, data_arguments& arguments);
// The runs, with what the factor file, if there is one, says of bases, logarithms and tiers.
run_table read_data(const data_arguments& arguments);
run_table read_data(const data_arguments& arguments, const csv_file& file);
void add_json_argument(CLI::App& command, bool& as_json);

// What was read: file, runs, failures, factors, notes.
json data_summary(const run_table& table);
// To standard output.
void answer(const json& document, bool as_json);

}  // namespace lab

#endif
