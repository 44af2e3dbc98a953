// indicators commands: what the commands share
#ifndef INDICATORS_COMMANDS_COMMAND_HPP
#define INDICATORS_COMMANDS_COMMAND_HPP

#include "indicators/store/selection.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace indicators {

// Of all commands: the folders of models besides the program's own.
struct shared_arguments {
    std::vector<std::string> models;
    [[nodiscard]] registry read_models() const;
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
// Whether a result was stored is told with its document.
std::string document_line(const json& document);

}  // namespace indicators

#endif
