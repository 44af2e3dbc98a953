// lab commands: the arguments that select the runs to read
#include "lab/commands/data_arguments.hpp"

#include "lab/design/factor_file.hpp"

#include <algorithm>
#include <iostream>

namespace lab {

void add_json_argument(CLI::App& command, bool& as_json) {
    command.add_flag("--json", as_json, "one JSON document instead of tables");
}

void add_data_arguments(CLI::App& command, data_arguments& arguments) {
    read_options& read = arguments.read;
    command
        .add_option("FILE", read.file, "the runs: `;` between columns, names of columns in the first line")
        ->required();
    command.add_option("--cost", read.cost, "the measured column (default: the last one)");
    command.add_flag("--rate", read.rate, "more of it is better");
    command.add_option("--ignore", read.ignore, "columns that are no factors")->delimiter(',');
    command.add_option("--levels", read.levels, "columns of numbers that are names of levels")
        ->delimiter(',');
    command.add_option("--log2", read.log2, "columns of numbers whose logarithm is used")->delimiter(',');
    command.add_option("--base", read.bases, "COLUMN=VALUE: the base of a factor")->delimiter(',');
    command.add_option("--without", read.without, "leaves out the runs with these treatments")
        ->delimiter(',');
    command.add_option("--time", read.time,
                       "the column of times, in Unix seconds (default: @time, if it exists)");
    command.add_flag("--no-groups", read.no_groups, "does not join columns of which exactly one is on");
    command.add_option("--factors", arguments.factors, "the factor file, with bases and tiers of factors");
    add_json_argument(command, arguments.as_json);
}

run_table read_data(const data_arguments& arguments) {
    return read_data(arguments, read_csv(arguments.read.file));
}

run_table read_data(const data_arguments& arguments, const csv_file& file) {
    if (arguments.factors.empty()) return runs_of(file, arguments.read);
    const factor_file known = read_factor_file(arguments.factors);
    read_options options = arguments.read;
    options.rate = options.rate || known.more_is_better;
    for (const factor& f : known.factors) {
        const auto column = file.column(f.name);
        if (!column) continue;
        const std::string base = f.text_of(f.base_value());
        const bool measured = std::any_of(file.rows.begin(), file.rows.end(),
                                          [&](const csv_row& row) { return row.fields[*column] == base; });
        const bool said = std::any_of(options.bases.begin(), options.bases.end(),
                                      [&](const std::string& b) { return b.starts_with(f.name + "="); });
        if (measured && !said) options.bases.push_back(f.name + "=" + base);
        if (f.is_number() && f.logarithmic) options.log2.push_back(f.name);
        if (f.kind == factor_kind::levels) options.levels.push_back(f.name);
    }
    run_table table = runs_of(file, options);
    for (factor& f : table.factors) {
        for (const factor& k : known.factors) {
            if (k.name != f.name) continue;
            f.tier = k.tier;
            f.hard_to_change = k.hard_to_change;
            f.about = k.about;
        }
    }
    return table;
}

void answer(const json& document, bool as_json) { show(document, as_json, std::cout); }

}  // namespace lab
