// indicators commands: run: runs a program, and stores a document of each run
#include "indicators/commands/command.hpp"
#include "indicators/record/read_record.hpp"
#include "indicators/runner/batch.hpp"
#include "lab/data/input_error.hpp"
#include "lab/driver/stop.hpp"

#include <cmath>
#include <iostream>
#include <optional>

namespace indicators {

namespace {

struct run_arguments {
    batch_options batch;
    std::vector<std::string> environment;
    std::string store;
    double most_output_mb = 16;
    bool keep_extra = false;
    bool quiet = false;
};

std::vector<std::pair<std::string, std::string>> environment_in(const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos || equals == 0)
            throw lab::input_error("--env " + text +
                                   ": write it as NAME=VALUE; NAME= takes the variable away");
        all.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

// The verdict on a run, as for an imported document.
judged_run judged(json document, const registry& models, const validation_options& how) {
    judged_run result = judge(read_record(text_of_json(document)), models, how);
    document["status"] = result.status;
    document["reasons"] = list_of(result.reasons);
    document["doubts"] = list_of(result.printed.doubts);
    result.run.whole = std::move(document);
    return result;
}

void store_it(result_store& store, judged_run& result, const validation_options& how) {
    try {
        store.add(result, how);
    } catch (const lab::input_error& wrong) {
        // A changed model: the measurement is kept nevertheless.
        if (result.status != "accepted") throw;
        result.status = "refused";
        result.reasons.push_back({"$", wrong.what()});
        result.run.whole["status"] = result.status;
        result.run.whole["reasons"] = list_of(result.reasons);
        store.add(result, how);
    }
}

void run_run(const run_arguments& arguments, const shared_arguments& shared) {
    const registry models = shared.read_models();
    std::optional<result_store> store;
    if (!arguments.store.empty()) store.emplace(arguments.store);
    batch_options options = arguments.batch;
    options.command = shared.program;
    options.lenient = arguments.keep_extra;
    if (options.command.empty())
        throw lab::input_error("run what? Name the program and its arguments behind --");
    if (!std::isfinite(options.limit_s))
        throw lab::input_error("--limit-s has to be a finite number of seconds");
    options.environment = environment_in(arguments.environment);
    options.most_output = static_cast<std::size_t>(arguments.most_output_mb * 1024 * 1024);
    options.stop = &lab::stop_signal;
    lab::stop_on_signals();
    batch runs(options);
    if (store) store->add_batch(runs.id(), options.size);
    const validation_options how{arguments.keep_extra, false};
    std::int64_t accepted = 0;
    for (std::int64_t place = 0; place < options.size && lab::stop_signal == 0; ++place) {
        judged_run result = judged(runs.run(place), models, how);
        try {
            if (store) store_it(*store, result, how);
        } catch (const std::exception&) {  // the run was made nevertheless
            std::cout << text_of_json(result.run.whole) << std::endl;
            throw;
        }
        std::cout << text_of_json(result.run.whole) << std::endl;
        accepted += result.status == "accepted";
        if (arguments.quiet) continue;
        std::cerr << place + 1 << " of " << options.size << ": " << result.status;
        if (result.status == "accepted" && result.printed.document.score)
            std::cerr << ", " << *result.printed.document.score;
        for (const refusal& r : result.reasons) std::cerr << "\n    " << r.text();
        for (const refusal& r : result.printed.doubts) std::cerr << "\n    doubtful: " << r.text();
        std::cerr << '\n';
    }
    if (lab::stop_signal != 0) throw CLI::RuntimeError(128 + lab::stop_signal);
    if (accepted < options.size) throw CLI::RuntimeError(1);
}

}  // namespace

void add_run(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command =
        *app.add_subcommand("run",
                            "Runs a program, and prints one document per line for each run, "
                            "whatever the program does: its output, "
                            "whether that is an indicator, and information about the machine, "
                            "the program and its run. Exits with 1 if "
                            "not all of them were accepted");
    auto arguments = std::make_shared<run_arguments>();
    command.add_option("--batch", arguments->batch.size, "number of runs")
        ->check(CLI::Range(std::int64_t{1}, most_runs))
        ->capture_default_str();
    command
        .add_option("--env", arguments->environment,
                    "NAME=VALUE: a variable of its environment; may be given more than once")
        ->allow_extra_args(false);
    add_store(command, arguments->store);
    command.add_option("--limit-s", arguments->batch.limit_s, "time limit of a run, in seconds; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--most-output-mb", arguments->most_output_mb,
                    "maximum of each of its outputs, in MiB; beyond that it is killed")
        ->check(CLI::Range(0.001, 1024.0))
        ->capture_default_str();
    command.add_flag("--lenient", arguments->keep_extra,
                     "keeps undeclared members of @parameters and @result");
    command.add_flag("--quiet", arguments->quiet, "no line after each run on standard error");
    command.footer(
        "The program and its arguments follow behind --, as in: indicator run --batch 3 -- ./program --size "
        "10");
    command.callback([arguments, &shared] { run_run(*arguments, shared); });
}

}  // namespace indicators
