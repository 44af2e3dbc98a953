// lab commands: what the commands share
#include "lab/commands/command.hpp"

#include <iostream>

namespace lab {

void add_json_argument(CLI::App& command, bool& as_json) {
    command.add_flag("--json", as_json, "one JSON document instead of tables");
}

void add_data_arguments(CLI::App& command, data_arguments& arguments) {
    read_options& read = arguments.read;
    command
        .add_option("FILE", read.file, "runs, with `;` between columns, whose names are in the first line")
        ->required();
    command.add_option("--cost", read.cost, "the column that was measured")->capture_default_str();
    command.add_flag("--rate", read.rate, "more of it is better");
    command.add_option("--ignore", read.ignore, "columns that are no factors")->delimiter(',');
    command.add_option("--levels", read.levels, "columns of numbers that are names of levels")
        ->delimiter(',');
    command.add_option("--log2", read.log2, "columns of numbers that count by their logarithm")
        ->delimiter(',');
    command.add_option("--base", read.bases, "COLUMN=VALUE: what a factor is compared with")->delimiter(',');
    command.add_option("--without", read.without, "leaves out the runs with these treatments")
        ->delimiter(',');
    command.add_option("--time", read.time, "the column of times, in unix seconds (@time, if there is one)");
    command.add_flag("--no-groups", read.no_groups, "columns of which exactly one is on stay columns");
    add_json_argument(command, arguments.as_json);
}

json data_summary(const run_table& table) {
    json names = json::array();
    for (const factor& f : table.factors) names.push_back(f.name);
    return {{"file", table.name},
            {"cost", table.cost_name},
            {"better", table.more_is_better ? "more" : "less"},
            {"runs", table.runs.size()},
            {"failed", table.num_failed},
            {"configurations", configurations_of(table).size()},
            {"factors", names},
            {"notes", table.notes}};
}

void answer(const json& document, bool as_json) { show(document, as_json, std::cout); }

}  // namespace lab
