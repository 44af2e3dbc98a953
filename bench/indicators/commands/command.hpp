// indicators commands: shared by the commands
#ifndef INDICATORS_COMMANDS_COMMAND_HPP
#define INDICATORS_COMMANDS_COMMAND_HPP

#include "indicators/store/selection.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace indicators {

// The options of all commands.
struct shared_arguments {
    std::vector<std::string> models;   // folders in addition to the program's own
    std::vector<std::string> program;  // the words after --

    [[nodiscard]] registry read_models() const;
    // The declarations for a store: those at the time when results were stored; for models without results, the
    // current ones.
    [[nodiscard]] registry read_models_of(result_store& store) const;
};

// Each function adds a subcommand. lab::input_error ends the program with 2. An answer that is a "no" is
// printed, and then throws CLI::RuntimeError(1).
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
