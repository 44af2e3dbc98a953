// lab commands: the arguments that select the runs to read, and the form of the answer
#ifndef LAB_COMMANDS_DATA_ARGUMENTS_HPP
#define LAB_COMMANDS_DATA_ARGUMENTS_HPP

#include "lab/data/document.hpp"
#include "lab/data/run_table.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace lab {

// FILE, and the options that select the cost, the factors, and ignored columns.
struct data_arguments {
    read_options read;
    std::string factors;  // a factor file
    bool as_json = false;
};
void add_data_arguments(CLI::App& command, data_arguments& arguments);
// Reads the runs; bases, logarithms and tiers come from the factor file, if there is one.
run_table read_data(const data_arguments& arguments);
run_table read_data(const data_arguments& arguments, const csv_file& file);
void add_json_argument(CLI::App& command, bool& as_json);

// Prints to standard output.
void answer(const json& document, bool as_json);

}  // namespace lab

#endif
