// lab commands: plan: chooses the configurations to run, and reports what they can distinguish
#include "lab/design/plan.hpp"
#include "lab/analysis/plan_report.hpp"
#include "lab/commands/command.hpp"
#include "lab/data/input_error.hpp"
#include "lab/design/exchange.hpp"
#include "lab/design/sampling.hpp"
#include "lab/design/whole_plots.hpp"

#include <weir/platform/output_file.hpp>

#include <iostream>
#include <map>
#include <memory>

namespace lab {

namespace {

struct plan_arguments {
    std::string factors;
    std::string kind = "balanced";
    std::size_t runs = 0;
    std::uint64_t seed = 1;
    bool pairs = false;
    std::string centre;
    std::string from;
    std::size_t number_levels = 3;
    std::size_t visits = 2;
    std::size_t builds = 0;
    std::size_t repeat = 1;
    double seconds = 0;
    std::string out;
    bool as_json = false;
};

constexpr std::size_t most_runs = 100'000;

std::vector<configuration> configurations_for(const plan_arguments& arguments, const factor_file& file) {
    std::mt19937_64 random(arguments.seed);
    const auto values = planned_values(file, arguments.number_levels);
    const std::string& kind = arguments.kind;
    if (kind == "around") return around(file, values, configuration_in(arguments.centre, file));
    if (kind == "full") return all_configurations(file, values, arguments.runs > 0 ? arguments.runs : 10'000);
    if (arguments.runs == 0) throw input_error("--kind " + kind + " needs --runs N: how many configurations");
    const std::size_t count = arguments.builds > 0 ? arguments.builds : usual_builds(file, arguments.runs);
    const std::vector<configuration> builds = whole_plots(file, values, count, random);
    if (kind == "random") return random_configurations(file, values, arguments.runs, random, builds);
    if (kind == "d-optimal")
        return d_optimal_plan(file, values, arguments.runs, arguments.pairs, random, builds);
    return balanced_plan(file, values, arguments.runs, random, builds);
}

plan made(const plan_arguments& arguments, const factor_file& file) {
    if (arguments.kind == "explicit") {
        if (arguments.from.empty()) throw input_error("--kind explicit needs --from FILE.csv");
        return read_plan(arguments.from, file);
    }
    plan result{file.name, file.factors, {}};
    // Builds are visited more than once, so that differences between visits can be separated from their effect.
    std::map<std::string, std::size_t> of_build;
    for (const configuration& values : configurations_for(arguments, file)) {
        std::string build;
        for (std::size_t f = 0; f < values.size(); ++f)
            if (file.factors[f].hard_to_change) build += file.factors[f].text_of(values[f]) + "|";
        const std::size_t block = build.empty() ? 0 : of_build[build]++ % arguments.visits;
        result.runs.push_back({values, block, "", "", 0});
    }
    return result;
}

json document_of(const plan_report& report, const plan_arguments& arguments) {
    constexpr std::size_t most_aliased = 40;
    json levels = json::array();
    for (const level_count& l : report.levels)
        levels.push_back({{"factor", l.factor},
                          {"value", l.value},
                          {"runs", l.runs},
                          {"share", static_cast<double>(l.runs) / static_cast<double>(report.runs)}});
    json terms = json::array();
    for (const term_quality& t : report.terms) terms.push_back({{"term", t.name}, {"vif", t.inflation}});
    json aliased = json::array();
    for (const aliased_term& a : report.aliased) {
        if (!arguments.as_json && aliased.size() == most_aliased) break;
        aliased.push_back({{"name", a.name}, {"why", a.why}});
    }
    json document{{"kind", arguments.kind},
                  {"seed", arguments.seed},
                  {"runs", report.runs},
                  {"configurations", report.configurations},
                  {"levels", levels},
                  {"never", report.never},
                  {"worst_pair",
                   {{"difference_of_share", report.worst_pair}, {"values", report.worst_pair_names}}},
                  {"d_efficiency", report.d_efficiency},
                  {"terms", terms},
                  {"aliased_terms", report.aliased.size()},
                  {"aliased", aliased}};
    if (arguments.seconds > 0)
        document["minutes"] = arguments.seconds * static_cast<double>(report.runs * arguments.repeat) / 60;
    return document;
}

void run_plan(const plan_arguments& arguments) {
    const factor_file file = read_factor_file(arguments.factors);
    const plan result = made(arguments, file);
    if (result.runs.size() < 2)
        throw input_error(file.name, "a plan of one run can tell nothing; give --runs more");
    json document = document_of(report_of(result, arguments.pairs), arguments);
    if (!arguments.out.empty()) {
        weir::detail::output_file::replace(arguments.out, plan_text(result));
        document["file"] = arguments.out;
    } else if (!arguments.as_json) {
        std::cout << plan_text(result) << '\n';
    } else {
        document["plan"] = plan_text(result);
    }
    answer(document, arguments.as_json);
}

}  // namespace

void add_plan(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "plan",
        "Plans which configurations to run, and reports balance, and effects that can't be distinguished");
    auto arguments = std::make_shared<plan_arguments>();
    command.add_option("FACTORS", arguments->factors, "the factor file, JSON")->required();
    command
        .add_option("--kind", arguments->kind,
                    "random; balanced: each value, and each pair of values, equally often; d-optimal: for "
                    "the model; explicit: those of --from; around: --centre, and all that differ from it "
                    "in one factor; full: all configurations")
        ->check(CLI::IsMember({"random", "balanced", "d-optimal", "explicit", "around", "full"}))
        ->capture_default_str();
    command.add_option("--runs", arguments->runs, "number of configurations")
        ->check(CLI::Range(std::size_t{2}, most_runs));
    command.add_option("--seed", arguments->seed, "for random choices")->capture_default_str();
    command.add_flag("--pairs", arguments->pairs,
                     "the model has all pairs, too: for d-optimal, and in the report");
    command.add_option("--centre", arguments->centre,
                       "FACTOR=VALUE,...: for --kind around, the base with these changes");
    command.add_option("--from", arguments->from, "for --kind explicit, a CSV with columns of factors");
    command
        .add_option("--levels-of-numbers", arguments->number_levels, "number of values of a numeric factor")
        ->check(CLI::Range(2, 100))
        ->capture_default_str();
    command
        .add_option(
            "--builds", arguments->builds,
            "maximum number of builds, if factors are hard to change (default: twice as many as needed "
            "to estimate their effects)")
        ->check(CLI::PositiveNumber);
    command.add_option("--visits", arguments->visits, "visits of each build, if factors are hard to change")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_option("--repeat", arguments->repeat, "as for `lab run`; used by --seconds")
        ->capture_default_str();
    command.add_option("--seconds", arguments->seconds, "the time of a run, to print the time of the plan");
    command.add_option("-o,--out", arguments->out, "the plan file; without it the plan is printed");
    add_json_argument(command, arguments->as_json);
    command.callback([arguments] { run_plan(*arguments); });
}

}  // namespace lab
