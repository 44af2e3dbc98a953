// indicators commands: shared by the commands
#ifndef INDICATORS_COMMANDS_COMMAND_HPP
#define INDICATORS_COMMANDS_COMMAND_HPP

#include "indicators/store/selection.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace indicators {

// Of all commands.
struct shared_arguments {
    std::vector<std::string> models;   // folders besides the program's own
    std::vector<std::string> program;  // what follows --

    [[nodiscard]] registry read_models() const;
    // For what is stored: as it was declared then, and what was never stored as it is declared now.
    [[nodiscard]] registry read_models_of(result_store& store) const;
};

// Each adds its subcommand. lab::input_error ends the program with 2; an answer that is a "no" throws
// CLI::RuntimeError(1) once it is printed.
void add_run(CLI::App& app, const shared_arguments& shared);
void add_check(CLI::App& app, const shared_arguments& shared);
void add_import(CLI::App& app, const shared_arguments& shared);
void add_export(CLI::App& app, const shared_arguments& shared);
void add_query(CLI::App& app, const shared_arguments& shared);
void add_recommend(CLI::App& app, const shared_arguments& shared);
void add_models(CLI::App& app, const shared_arguments& shared);
void add_migrate(CLI::App& app, const shared_arguments& shared);

// NAME, --where, --machine, --stack, --since, --until, --version-of.
void add_selection(CLI::App& command, selection& what);
CLI::Option* add_store(CLI::App& command, std::string& path);
// [{"path", "reason"}].
json list_of(const refusals& all);

}  // namespace indicators

#endif
