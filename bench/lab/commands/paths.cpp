// lab commands: paths: paths from slow to fast, and the value of each treatment whatever the order
#include "lab/analysis/paths.hpp"

#include "lab/commands/command.hpp"
#include "lab/data/rate.hpp"

#include <memory>

namespace lab {

namespace {

json path_document(const run_table& table, const path& p) {
    const rate_scale rate = rate_of(table.cost_name);
    json steps = json::array();
    for (const path_step& step : p.steps) {
        steps.push_back({{"treatment", step.treatment},
                         {"before", step.before},
                         {"after", step.after},
                         {"change", step.after - step.before},
                         {"rate_before", rate.scale / step.before},
                         {"rate_after", rate.scale / step.after},
                         {"rate_change", rate.scale / step.after - rate.scale / step.before}});
    }
    return {{"from", configuration_text(table.factors, p.from)},
            {"start", p.start},
            {"end", p.end()},
            {"rate_unit", rate.unit},
            {"steps", steps}};
}

void run_paths(const data_arguments& arguments) {
    const run_table table = read_data(arguments);
    const path greedy = greedy_path(table);
    json document{{"data", data_summary(table)}};
    for (const path& p : {greedy, nicest_path(table, greedy), reversed_path(table, greedy)})
        document["paths"][p.name] = path_document(table, p);

    const attribution shapley = shapley_values(table, greedy);
    json values = json::array();
    for (const shapley_value& v : shapley.values)
        values.push_back({{"treatment", v.treatment}, {"worth", v.worth}});
    document["shapley"] = {{"chains", shapley.num_chains},
                           {"complete", shapley.complete},
                           {"values", values}};

    const best_measured best = best_of(table);
    document["best"] = {{"configuration", configuration_text(table.factors, best.values)},
                        {"cost", best.cost},
                        {"runs", best.num_runs},
                        {"greedy_ends_there", best.cost == greedy.end()}};
    answer(document, arguments.as_json);
}

}  // namespace

void add_paths(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "paths",
        "Paths from slow to fast, one treatment after the other: greedy, nicest first; and Shapley's values");
    auto arguments = std::make_shared<data_arguments>();
    add_data_arguments(command, *arguments);
    command.callback([arguments] { run_paths(*arguments); });
}

}  // namespace lab
