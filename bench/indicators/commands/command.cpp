// indicators commands: shared arguments of the commands
#include "indicators/commands/command.hpp"

namespace indicators {

registry shared_arguments::read_models() const {
    registry all;
    all.add_folder(own_models());
    for (const std::string& folder : models) all.add_folder(folder);
    return all;
}

registry shared_arguments::read_models_of(result_store& store) const {
    registry all;
    if (store.has_results()) store.add_models_to(all);
    all.add_missing(read_models());
    return all;
}

void add_selection(CLI::App& command, selection& what) {
    command.add_option("NAME", what.name, "the indicator, for example PiMatmul");
    command
        .add_option("--where", what.where,
                    "NAME=VALUE, NAME=A|B, NAME!=VALUE, NAME>=VALUE: conditions on parameters and results")
        ->allow_extra_args(false);
    command.add_option("--machine", what.machine, "part of the machine's name, as `query` prints it");
    command
        .add_option("--stack", what.stack,
                    "NAME=PART: part of a value in the stack, for example compiler=12.2")
        ->allow_extra_args(false);
    command.add_option("--since", what.since, "a time, or a day");
    command.add_option("--until", what.until, "a time, or a day, which means its begin");
    command.add_option("--version-of", what.version,
                       "the begin of the program's version; without a version, of its hash");
}

CLI::Option* add_store(CLI::App& command, std::string& path) {
    return command.add_option("--store", path, "the SQLite file; may be the lab's runs.sqlite");
}

json list_of(const refusals& all) {
    json list = json::array();
    for (const refusal& r : all) list.push_back({{"path", r.path}, {"reason", r.reason}});
    return list;
}

}  // namespace indicators
