// lab commands: search: finds a near-optimal configuration with few runs
#include "lab/analysis/search.hpp"

#include "lab/commands/command.hpp"
#include "lab/data/configuration_index.hpp"
#include "lab/data/input_error.hpp"
#include "lab/design/sampling.hpp"
#include "lab/driver/experiment.hpp"
#include "lab/driver/stop.hpp"

#include <cmath>
#include <iostream>
#include <memory>
#include <random>

namespace lab {

namespace {

struct search_arguments : data_arguments {
    search_options search;
    std::string out;
    double limit_s = 300;
    std::size_t number_levels = 4;
};

json configuration_document(const std::vector<factor>& factors, const configuration& values) {
    json result = json::object();
    for (std::size_t f = 0; f < factors.size(); ++f) result[factors[f].name] = factors[f].text_of(values[f]);
    return result;
}

json document_of(const search_result& found, const std::vector<factor>& factors,
                 const std::vector<configuration>& candidates, bool more_is_better) {
    json trace = json::array();
    double best = std::nan("");
    for (std::size_t i = 0; i < found.runs.size(); ++i) {
        const double cost = found.runs[i].cost;
        if (std::isfinite(cost) && (std::isnan(best) || (more_is_better ? cost > best : cost < best)))
            best = cost;
        trace.push_back(
            {{"run", i + 1},
             {"cost", cost},
             {"best_so_far", best},
             {"configuration", configuration_text(factors, candidates[found.runs[i].candidate])}});
    }
    json alternatives = json::array();
    for (const std::size_t c : found.alternatives)
        alternatives.push_back({{"configuration", configuration_text(factors, candidates[c])}});
    return {{"best", configuration_document(factors, candidates[found.best])},
            {"configuration", configuration_text(factors, candidates[found.best])},
            {"cost", found.cost},
            {"runs_of_best", found.best_runs},
            {"runs", found.runs.size()},
            {"candidates", candidates.size()},
            {"within_2_percent", alternatives},
            {"trace", trace}};
}

json search_file(const search_arguments& arguments) {
    const run_table table = read_data(arguments);
    const configuration_index measured(table);
    std::vector<configuration> candidates;
    for (const repeated_configuration& c : measured.all()) candidates.push_back(c.values);
    search_options options = arguments.search;
    options.more_is_better = table.more_is_better;
    if (options.budget > table.runs.size())
        throw input_error(table.name, "has " + std::to_string(table.runs.size()) + " runs; a budget of " +
                                          std::to_string(options.budget) + " is more than all of them");
    // Each run of a configuration takes the next of its rows, beginning at a random one.
    std::mt19937_64 random(options.seed ^ 0x5eed);
    std::vector<std::size_t> next;
    for (const repeated_configuration& c : measured.all()) next.push_back(random() % c.runs.size());
    const search_result found = search(
        table.factors, candidates,
        [&](std::size_t c) {
            const repeated_configuration& of = measured.all()[c];
            return table.runs[of.runs[next[c]++ % of.runs.size()]].cost;
        },
        options);
    json document{{"oracle", data_summary(table)}};
    document.update(document_of(found, table.factors, candidates, table.more_is_better));
    return document;
}

json search_program(const search_arguments& arguments) {
    const factor_file file = read_factor_file(arguments.factors);
    if (file.command.empty()) throw input_error(file.name, "has no 'command'");
    constexpr std::size_t most = 20'000;
    const auto values = planned_values(file, arguments.number_levels);
    std::vector<configuration> candidates;
    double all = 1;
    for (const std::vector<double>& of : values) all *= static_cast<double>(of.size());
    if (all <= static_cast<double>(most)) {
        candidates = all_configurations(file, values, most);
    } else {
        std::mt19937_64 random(arguments.search.seed);
        candidates = random_configurations(file, values, most, random);
    }
    search_options options = arguments.search;
    options.more_is_better = file.more_is_better;
    experiment_options how;
    how.folder = arguments.out;
    how.limit_s = arguments.limit_s;
    how.growing = true;
    how.seed = std::to_string(options.seed);
    how.stop = &stop_signal;
    how.progress = [](const std::string& line) { std::cerr << line << '\n'; };
    stop_on_signals();
    plan schedule{file.name, file.factors, {}};
    const search_result found = search(
        file.factors, candidates,
        [&](std::size_t c) {
            schedule.runs.push_back({candidates[c], 0, "", "", 0});
            const experiment_result done = run_experiment(file, schedule, how);
            if (done.stopped) throw CLI::RuntimeError(128 + stop_signal);
            const auto cost = done.costs.find(schedule.runs.size() - 1);
            return cost == done.costs.end() ? std::nan("") : cost->second;
        },
        options);
    json document{{"factors", file.name}, {"csv", arguments.out + "/runs.csv"}};
    document.update(document_of(found, file.factors, candidates, file.more_is_better));
    return document;
}

void run_search(const search_arguments& arguments) {
    if (arguments.read.file.empty() && (arguments.factors.empty() || arguments.out.empty()))
        throw input_error(
            "search where? Give --oracle FILE, or --factors FACTORS.json and --out DIR for a program");
    answer(arguments.read.file.empty() ? search_program(arguments) : search_file(arguments),
           arguments.as_json);
}

}  // namespace

void add_search(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("search",
                            "Finds a near-optimal configuration of a file or a program with few runs");
    auto arguments = std::make_shared<search_arguments>();
    add_data_arguments(command, *arguments);
    command.get_option("FILE")->required(false);
    command.add_option("--oracle", arguments->read.file,
                       "a file of complete measurements: costs come from there, and nothing is run");
    command.add_option("--out", arguments->out,
                       "without --oracle: the folder for runs of the program of --factors; called again with "
                       "the same arguments it continues");
    command.add_option("--limit-s", arguments->limit_s, "time limit of a run, in seconds")
        ->capture_default_str();
    command
        .add_option("--levels-of-numbers", arguments->number_levels, "number of values of a numeric factor")
        ->check(CLI::Range(2, 100))
        ->capture_default_str();
    command.add_option("--budget", arguments->search.budget, "number of runs")
        ->required()
        ->check(CLI::PositiveNumber);
    command
        .add_option("--confirm", arguments->search.confirm,
                    "number of them that repeat the best ones, for noisy runs")
        ->capture_default_str();
    command.add_option("--seed", arguments->search.seed, "for the first candidates")->capture_default_str();
    command.callback([arguments] { run_search(*arguments); });
}

}  // namespace lab
