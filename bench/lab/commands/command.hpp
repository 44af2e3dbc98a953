// lab commands: shared by the commands: arguments of the program, and output of an answer
#ifndef LAB_COMMANDS_COMMAND_HPP
#define LAB_COMMANDS_COMMAND_HPP

#include "lab/commands/data_arguments.hpp"

namespace lab {

// Each function adds a subcommand, whose callback does the work. input_error ends the program with status 2. A
// command whose answer is a verdict prints it, and then throws CLI::RuntimeError(status).
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

// The data that were read: file, runs, failures, factors, notes.
json data_summary(const run_table& table);

}  // namespace lab

#endif
