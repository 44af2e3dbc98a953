// indicators commands: models and migrate: declared models
#include "indicators/commands/command.hpp"
#include "indicators/store/schema.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"

#include <iostream>

namespace indicators {

namespace {

struct model_arguments {
    std::vector<std::string> names;
    bool schema = false;
    bool page = false;
    bool as_json = false;
};

void run_models(const model_arguments& arguments, const shared_arguments& shared) {
    const registry models = shared.read_models();
    const bool whole = arguments.schema || arguments.page || arguments.as_json || !arguments.names.empty();
    const std::vector<std::string> names = arguments.names.empty() ? models.names() : arguments.names;
    if (arguments.schema) std::cout << base_schema();
    json declarations = json::array();
    for (const std::string& name : names) {
        const model* of = models.find(name);
        if (of == nullptr)
            throw lab::input_error("no indicator '" + name + "' is registered; there is " +
                                   lab::joined(models.names()));
        if (arguments.as_json) {
            declarations.push_back(of->declaration);
        } else if (arguments.schema) {
            std::cout << schema_of(*of);
        } else if (whole) {
            std::cout << page_of(*of) << '\n';
        } else {
            std::cout << name << std::string(name.size() < 20 ? 20 - name.size() : 1, ' ') << of->about
                      << '\n';
        }
    }
    if (arguments.as_json) std::cout << declarations.dump(2) << '\n';
}

void run_migrate(const std::string& path, bool refuse_misfits, const shared_arguments& shared) {
    result_store store(path, lab::database::mode::existing);
    const registry models = shared.read_models();
    const auto done = store.migrate(models, refuse_misfits);
    for (const result_store::migration& one : done) {
        std::cout << one.name << ": " << one.kept << " kept, " << one.accepted_now
                  << " of those that were refused accepted now, " << one.misfits.size() << " refused now\n";
        for (const std::string& misfit : one.misfits) std::cout << "    " << misfit << '\n';
    }
    if (done.empty()) std::cout << "nothing to do\n";
}

}  // namespace

void add_models(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command =
        *app.add_subcommand("models", "Lists the known indicators; prints the named ones completely");
    auto arguments = std::make_shared<model_arguments>();
    command.add_option("NAME", arguments->names, "as PiMatmul");
    command.add_flag("--schema", arguments->schema, "the SQLite schema of the models");
    command.add_flag("--markdown", arguments->page, "their documentation");
    command.add_flag("--json", arguments->as_json, "their declarations, including extended models");
    command.callback([arguments, &shared] { run_models(*arguments, shared); });
}

void add_migrate(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command = *app.add_subcommand(
        "migrate",
        "Checks stored results again if their model has changed, and all results that were "
        "refused; all or nothing, and no document is lost");
    auto store = std::make_shared<std::string>("indicators.sqlite");
    auto refuse_misfits = std::make_shared<bool>(false);
    add_store(command, *store)->capture_default_str();
    command.add_flag("--refuse-misfits", *refuse_misfits,
                     "refuses results that no longer fit, instead of an error");
    command.callback([store, refuse_misfits, &shared] { run_migrate(*store, *refuse_misfits, shared); });
}

}  // namespace indicators
