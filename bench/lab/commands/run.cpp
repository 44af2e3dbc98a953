// lab commands: run: measures the configurations of a plan
#include "lab/commands/command.hpp"
#include "lab/data/input_error.hpp"
#include "lab/driver/experiment.hpp"
#include "lab/driver/schedule.hpp"
#include "lab/driver/stop.hpp"
#include "lab/stats/distributions.hpp"

#include <cmath>
#include <iostream>
#include <memory>

namespace lab {

namespace {

struct run_arguments {
    std::string factors;
    std::string plan;
    std::string control;
    std::vector<std::string> command;
    schedule_options schedule;
    experiment_options experiment;
    bool quiet = false;
    bool as_json = false;
};

plan base_alone(const factor_file& file) { return {file.name, file.factors, {{file.base(), 0, "", "", 0}}}; }

// The difference of one configuration under two names (A/A).
json noise_of(const std::vector<std::pair<double, double>>& controls) {
    json result{{"pairs", controls.size()}};
    if (controls.size() < 2) return result;
    const double n = static_cast<double>(controls.size());
    double mean = 0;
    double squares = 0;
    for (const auto& [a, b] : controls) mean += std::log(a / b) / n;
    for (const auto& [a, b] : controls) squares += std::pow(std::log(a / b) - mean, 2);
    const double deviation = std::sqrt(squares / (n - 1));
    const double wide = t_quantile(0.975, n - 1) * deviation / std::sqrt(n);
    result["percent"] = 100 * (std::exp(deviation / std::sqrt(2.0)) - 1);
    result["a_over_b"] = std::exp(mean);
    result["low"] = std::exp(mean - wide);
    result["high"] = std::exp(mean + wide);
    result["differs_by_name"] = std::abs(mean) > wide;
    return result;
}

void run_run(const run_arguments& arguments) {
    factor_file file = read_factor_file(arguments.factors);
    if (!arguments.command.empty()) file.command = arguments.command;
    if (file.command.empty())
        throw input_error(file.name, "has no 'command'; write one there, or behind -- on the command line");
    const plan planned = arguments.plan.empty() ? base_alone(file) : read_plan(arguments.plan, file);
    schedule_options how = arguments.schedule;
    how.control = configuration_in(arguments.control, file);
    experiment_options options = arguments.experiment;
    options.seed = std::to_string(how.seed);
    options.stop = &stop_signal;
    if (!arguments.quiet) options.progress = [](const std::string& line) { std::cerr << line << '\n'; };
    stop_on_signals();

    const experiment_result done = run_experiment(file, scheduled(planned, file, how), options);
    json failed = json::object();
    for (const auto& [status, count] : done.failed) failed[status] = count;
    const json document{
        {"planned", done.planned},       {"done_before", done.done_before},     {"done", done.done},
        {"stopped", done.stopped},       {"out_of_budget", done.out_of_budget}, {"failed", failed},
        {"not_echoed", done.not_echoed}, {"noise", noise_of(done.controls)},    {"csv", done.csv},
        {"sqlite", done.sqlite}};
    answer(document, arguments.as_json);
    if (done.stopped) throw CLI::RuntimeError(128 + stop_signal);
}

}  // namespace

void add_run(CLI::App& app) {
    CLI::App& command = *app.add_subcommand("run",
                                            "Measures a plan: each run is a row of OUT/runs.csv and "
                                            "of OUT/runs.sqlite, also failures. Called "
                                            "again with the same arguments it measures what is missing");
    auto arguments = std::make_shared<run_arguments>();
    command.add_option("FACTORS", arguments->factors, "the factor file, JSON")->required();
    command.add_option("--plan", arguments->plan, "a CSV of `lab plan`; without it the base is run");
    command.add_option("--out", arguments->experiment.folder, "the folder for the measurements")->required();
    command
        .add_option("--repeat", arguments->schedule.repeat, "number of times that the plan is run, in blocks")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    command.add_flag("--as-planned", arguments->schedule.as_planned,
                     "keeps the order of the plan, instead of a random one");
    command.add_option("--seed", arguments->schedule.seed, "for random choices")->capture_default_str();
    command
        .add_option("--control-every", arguments->schedule.control_every,
                    "number of runs between A/A pairs (one configuration under two names); 0: none")
        ->capture_default_str();
    command.add_option("--control", arguments->control,
                       "FACTOR=VALUE,...: the configuration of A and B (default: the base)");
    command
        .add_option("--limit-s", arguments->experiment.limit_s, "time limit of a run, in seconds; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--build-limit-s", arguments->experiment.build_limit_s,
                    "time limit of a build, in seconds; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--budget-s", arguments->experiment.budget_s,
                    "begins no run after this many seconds; 0: no limit")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_flag("--retry-failed", arguments->experiment.retry_failed, "repeats runs that failed");
    command.add_flag("--quiet", arguments->quiet, "no line after each run on standard error");
    command.add_option("COMMAND", arguments->command, "after --: replaces the command of the factor file");
    add_json_argument(command, arguments->as_json);
    command.callback([arguments] { run_run(*arguments); });
}

}  // namespace lab
