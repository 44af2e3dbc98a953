// lab commands: compare: compares two builds, commits or commands, or two files of runs
#include "lab/analysis/comparison.hpp"
#include "lab/commands/command.hpp"
#include "lab/data/input_error.hpp"
#include "lab/driver/duel.hpp"

#include <map>
#include <memory>

namespace lab {

namespace {

struct compare_arguments : data_arguments {
    std::string second;
    std::string by;
    duel_options duel;
    comparison_options compare;
};

constexpr int slower_status = 1;
constexpr int undecided_status = 4;

// The runs of `table` by their configuration without the factor `by`, whose base is A.
void add_sides(std::map<std::string, compared_costs>& to, const run_table& table, std::size_t by) {
    for (const measured_run& run : table.runs) {
        std::string name;
        for (std::size_t f = 0; f < table.factors.size(); ++f)
            if (f != by) name += table.factors[f].name + "=" + table.factors[f].text_of(run.values[f]) + ";";
        compared_costs& costs = to[name];
        costs.name = name;
        (run.values[by] == 0 ? costs.a : costs.b).push_back(run.cost);
    }
}

// Both files are read as one table, so that they have the same factors; the first factor is the file.
run_table both_files(const compare_arguments& arguments) {
    const csv_file a = read_csv(arguments.read.file);
    const csv_file b = read_csv(arguments.second);
    if (a.header != b.header)
        throw input_error(b.name, 1,
                          "has other columns than " + a.name + "; both need the same, in the same order");
    csv_file both{a.name + ", " + b.name, a.header, {}};
    both.header.insert(both.header.begin(), "file");
    for (const csv_file* file : {&a, &b}) {
        static_cast<void>(read_data(arguments, *file));  // errors name the file and line
        for (csv_row row : file->rows) {
            row.fields.insert(row.fields.begin(), file == &a ? "A" : "B");
            both.rows.push_back(std::move(row));
        }
    }
    return read_data(arguments, both);
}

std::vector<compared_costs> from_data(const compare_arguments& arguments, json& document) {
    std::map<std::string, compared_costs> costs;
    if (!arguments.second.empty()) {
        const run_table table = both_files(arguments);
        add_sides(costs, table, 0);
        document["a"] = arguments.read.file;
        document["b"] = arguments.second;
    } else if (!arguments.by.empty()) {
        const run_table table = read_data(arguments);
        const std::size_t by = table.factor_of(arguments.by);
        const factor& what = table.factors[by];
        if (what.is_number() || what.levels.size() != 2)
            throw input_error(table.name,
                              "'" + arguments.by + "' (--by) has to have two values; it has " +
                                  (what.is_number() ? "numbers" : std::to_string(what.levels.size())));
        add_sides(costs, table, by);
        document["a"] = what.name + "=" + what.levels[0];
        document["b"] = what.name + "=" + what.levels[1];
    } else {
        throw input_error(
            "compare what? Give a second FILE, --by COLUMN, --commands A B, or --commits BASE HEAD");
    }
    std::vector<compared_costs> result;
    for (auto& [name, of] : costs) result.push_back(std::move(of));
    return result;
}

void run_compare(const compare_arguments& arguments) {
    json document;
    std::vector<compared_costs> costs;
    if (!arguments.duel.commands.empty() || !arguments.duel.commits.empty()) {
        const duel_result fought = run_duel(arguments.duel);
        for (const auto& [a, b] : fought.pairs) costs.push_back({"", {a}, {b}});
        document = {{"a", fought.a}, {"b", fought.b}, {"failed", json::object()}, {"file", fought.csv}};
        for (const auto& [status, count] : fought.failed) document["failed"][status] = count;
    } else if (arguments.read.file.empty()) {
        throw input_error(
            "compare what? Give FILE and FILE, FILE and --by COLUMN, --commands A B, or --commits BASE HEAD");
    } else {
        costs = from_data(arguments, document);
    }
    comparison_options options = arguments.compare;
    options.more_is_better = arguments.read.rate;
    const comparison found = compare(costs, options);
    document["verdict"] = found.verdict;
    if (!found.why.empty()) document["why"] = found.why;
    document["ratio"] = found.ratio;
    document["low"] = found.low;
    document["high"] = found.high;
    document["threshold"] = options.threshold;
    document["compared"] = found.num_compared;
    document["runs_of_a"] = found.num_a;
    document["runs_of_b"] = found.num_b;
    answer(document, arguments.as_json);
    if (found.verdict == "slower") throw CLI::RuntimeError(slower_status);
    if (found.verdict == "undecided") throw CLI::RuntimeError(undecided_status);
}

}  // namespace

void add_compare(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "compare",
        "B against A: faster or the same (exit status 0), slower (1), or undecided (4); 2 is wrong input");
    auto arguments = std::make_shared<compare_arguments>();
    add_data_arguments(command, *arguments);
    command.get_option("FILE")->required(false);
    command.add_option("SECOND", arguments->second, "the runs of B, with the same columns");
    command.add_option("--by", arguments->by,
                       "a column of FILE with two values: A is the base, B the other value");
    duel_options& duel = arguments->duel;
    command.add_option("--commands", duel.commands, "runs A and B in turns; each is a shell command")
        ->expected(2);
    command
        .add_option(
            "--commits", duel.commits,
            "two commits: each is checked out, built and run in its own folder OUT/trees/HASH, which is "
            "kept (`git worktree remove` removes it)")
        ->expected(2);
    command.add_option("--build", duel.build,
                       "for --commits: the shell command that builds a commit, in its folder");
    command.add_option("--command", duel.command,
                       "for --commits: the shell command that runs a commit, in its folder");
    command
        .add_option("--score", duel.score,
                    "the path of the cost in the JSON (@result.us_per_task), 'last number' of the output, or "
                    "'duration'")
        ->capture_default_str();
    command.add_option("--pairs", duel.pairs, "how often each is run")
        ->check(CLI::Range(2, 100'000))
        ->capture_default_str();
    command.add_option("--limit-s", duel.limit_s, "time limit of a run, in seconds")->capture_default_str();
    command.add_option("--seed", duel.seed, "for the order within pairs")->capture_default_str();
    command.add_option("--out", duel.folder, "the folder for the measurements")->capture_default_str();
    command
        .add_option("--threshold", arguments->compare.threshold,
                    "a smaller difference counts as none: 0.01 is 1 %")
        ->check(CLI::Range(0.0, 10.0))
        ->capture_default_str();
    command.add_option("--sure", arguments->compare.sure, "confidence of 'faster' and 'slower'")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str();
    command.add_option("--confidence", arguments->compare.confidence, "confidence of the interval")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str();
    command.callback([arguments] { run_compare(*arguments); });
}

}  // namespace lab
