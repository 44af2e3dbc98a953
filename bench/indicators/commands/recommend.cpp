// indicators commands: recommend: ranks configurations for this machine
#include "indicators/advice/advice.hpp"
#include "indicators/advice/comparable.hpp"
#include "indicators/commands/command.hpp"
#include "indicators/store/condition.hpp"
#include "lab/commands/data_arguments.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <cmath>
#include <iostream>
#include <set>

namespace indicators {

namespace {

struct recommend_arguments {
    lab::data_arguments data;  // --runs and its factors; --cost, --rate and --json are used by both
    selection what;
    comparable_options comparable;
    advice_options advice;
    std::string store = "indicators.sqlite";
    std::size_t most = 20;
};

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

std::string text_of(const lab::run_table& table, const lab::configuration& values) {
    return table.factors.empty() ? "(the only one)" : lab::configuration_text(table.factors, values);
}

json settings_of(const lab::run_table& table, const lab::configuration& values) {
    json all = json::object();
    for (std::size_t f = 0; f < table.factors.size(); ++f)
        all[table.factors[f].name] = table.factors[f].text_of(values[f]);
    return all;
}

// Ratios for programs, percentages for people.
json change(double ratio, bool as_json) {
    if (as_json) return number(ratio);
    return (ratio >= 1 ? "+" : "") + lab::short_text(100 * (ratio - 1), 3) + " %";
}

json why_of(const lab::run_table& table, const advice& found, bool as_json) {
    json all = json::array();
    for (const reason& r : found.why) {
        json one{{"setting", r.setting}};
        if (r.has_neighbour) {
            one["instead"] = r.neighbour;
            one["then"] = change(r.neighbour_to_best, as_json);
            one["runs_then"] = r.neighbour_runs;
        }
        if (!std::isnan(r.average)) {
            const lab::factor& factor = table.factors[r.factor];
            one["on_average"] = change(r.average, as_json);
            one["from"] = change(r.low, as_json);
            one["to"] = change(r.high, as_json);
            one["against"] = factor.name + "=" + factor.text_of(factor.base_value());
        }
        all.push_back(std::move(one));
    }
    return all;
}

json ranking_of(const comparable_runs& runs, const advice& found, std::size_t most, bool as_json) {
    json all = json::array();
    for (std::size_t i = 0; i < std::min(most, found.ranked.size()); ++i) {
        const ranked_configuration& c = found.ranked[i];
        json ids = json::array();
        for (const std::size_t r : c.runs) ids.push_back(runs.ids[r]);
        json one{{"rank", i + 1},          {"n", c.runs.size()},
                 {"mean", number(c.mean)}, {"low", number(c.low)},
                 {"high", number(c.high)}, {"to_best", number(c.to_best)},
                 {"verdict", c.verdict},   {"configuration", text_of(runs.table, c.values)}};
        if (as_json) one["settings"] = settings_of(runs.table, c.values);
        if (as_json) one["runs"] = ids;
        if (!as_json)
            one["runs"] =
                ids.size() > 3
                    ? json(ids[0].get<std::string>() + " and " + std::to_string(ids.size() - 1) + " more")
                    : ids;
        all.push_back(std::move(one));
    }
    return all;
}

json document_of(const comparable_runs& runs, const advice& found, const recommend_arguments& arguments) {
    json document{{"of", runs.table.name},
                  {"machine", runs.machines},
                  {"cost", runs.table.cost_name},
                  {"better", runs.table.more_is_better ? "more" : "less"},
                  {"runs", runs.table.runs.size()},
                  {"configurations", found.ranked.size()},
                  {"verdict", found.enough ? "recommended" : "not enough data"}};
    if (!found.enough) document["reason"] = found.not_enough;
    if (!found.ranked.empty()) {
        const ranked_configuration& best = found.ranked.front();
        document["best"] = settings_of(runs.table, best.values);
        if (!runs.fixed.empty()) document["in_all_runs"] = runs.fixed;
        document["configuration"] = text_of(runs.table, best.values);
        document["mean"] = number(best.mean);
        document["low"] = number(best.low);
        document["high"] = number(best.high);
        document["low_as_best"] = number(found.low_as_best);
        document["high_as_best"] = number(found.high_as_best);
        document["n"] = best.runs.size();
        json as_good = json::array();
        for (const ranked_configuration& c : found.ranked)
            if (c.verdict == "as good" || c.verdict == "unsure")
                as_good.push_back(text_of(runs.table, c.values));
        document["may_be_as_good"] = as_good.size();
        document["why"] = why_of(runs.table, found, arguments.data.as_json);
        document["ranking"] = ranking_of(runs, found, arguments.most, arguments.data.as_json);
    }
    std::vector<std::string> notes = runs.notes;
    if (found.ranked.size() == 1)
        notes.emplace_back("there is one configuration: it was compared with nothing");
    notes.insert(notes.end(), runs.table.notes.begin(), runs.table.notes.end());
    if (!notes.empty()) document["notes"] = notes;
    return document;
}

// Rows of one machine, named in @host.
comparable_runs runs_in(lab::csv_file file, const recommend_arguments& arguments) {
    comparable_runs runs;
    const selection& what = arguments.what;
    if (!what.stack.empty() || !what.since.empty() || !what.until.empty() || !what.version.empty())
        throw lab::input_error(file.name,
                               "--stack, --since, --until and --version-of are of stored indicators");
    for (const std::string& text : arguments.what.where) {
        const condition wanted = condition_in(text);
        const std::size_t column = file.needed(wanted.field, "--where");
        std::erase_if(file.rows,
                      [&](const lab::csv_row& row) { return !wanted.holds_for(row.fields[column]); });
    }
    if (const auto host = file.column("@host")) {
        std::erase_if(file.rows, [&](const lab::csv_row& row) {
            return row.fields[*host].find(arguments.what.machine) == std::string::npos;
        });
        std::set<std::string> machines;
        for (const lab::csv_row& row : file.rows) machines.insert(row.fields[*host]);
        runs.machines.assign(machines.begin(), machines.end());
        only_one_machine(runs.machines, arguments.comparable.pool_machines);
    } else if (!arguments.what.machine.empty()) {
        throw lab::input_error(file.name, "--machine: these runs don't say on which machine they were");
    }
    if (file.rows.empty()) throw lab::input_error(file.name, "has no such run");
    runs.table = lab::read_data(arguments.data, file);
    runs.notes.emplace_back(
        "all factors are taken for choices; --where fixes those that aren't yours to choose");
    if (const auto build = file.column("@build")) {
        std::set<std::string> builds;
        for (const lab::csv_row& row : file.rows) builds.insert(row.fields[*build]);
        if (builds.size() > 1)
            runs.notes.push_back("the runs are of " + std::to_string(builds.size()) +
                                 " builds (@build), which aren't told apart");
    }
    const auto id = file.column("@run");
    std::map<std::size_t, std::string> names;
    if (id)
        for (const lab::csv_row& row : file.rows) names[row.line] = "run " + row.fields[*id];
    for (const lab::measured_run& run : runs.table.runs)
        runs.ids.push_back(id ? names[run.line] : "line " + std::to_string(run.line));
    return runs;
}

// The lab's table of runs in a store.
lab::csv_file lab_runs(result_store& store) {
    lab::csv_file file{store.file().path(), {}, {}};
    lab::statement there(store.file(), "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'runs'");
    if (!there.next())
        throw lab::input_error(file.name,
                               "recommend for what? Name an indicator; this store has no runs of the lab's");
    lab::statement rows(store.file(), "SELECT * FROM runs");
    for (int c = 0; c < rows.columns(); ++c) file.header.push_back(rows.name(c));
    while (rows.next()) {
        lab::csv_row row{file.rows.size() + 2, {}};
        for (int c = 0; c < rows.columns(); ++c)
            row.fields.push_back(rows.is_number(c) && !rows.is_integer(c) ? lab::exact_text(rows.number(c))
                                                                          : rows.text(c));
        file.rows.push_back(std::move(row));
    }
    return file;
}

// Options that only apply to the lab's runs must not be ignored silently.
void no_option_of_runs(const lab::data_arguments& data) {
    const lab::read_options& read = data.read;
    if (!read.ignore.empty() || !read.levels.empty() || !read.log2.empty() || !read.bases.empty() ||
        !read.without.empty() || !read.time.empty() || read.no_groups || !data.factors.empty())
        throw lab::input_error(
            "--ignore, --levels, --log2, --base, --without, --time, --no-groups and --factors are of --runs; "
            "of stored indicators the model says what is a choice");
    if (read.rate && read.cost.empty())
        throw lab::input_error("--rate says that more is better of --cost; the model says it of its own");
}

comparable_runs stored_runs(recommend_arguments& arguments, const shared_arguments& shared) {
    result_store store(arguments.store, lab::database::mode::reading);
    if (arguments.what.name.empty()) return runs_in(lab_runs(store), arguments);
    no_option_of_runs(arguments.data);
    const registry models = shared.read_models_of(store);
    arguments.comparable.cost = arguments.data.read.cost;
    arguments.comparable.is_rate = arguments.data.read.rate;
    const std::vector<found_result> found = select_results(store, models, arguments.what);
    comparable_runs runs = comparable(found, *models.find(arguments.what.name), arguments.comparable);
    runs.table.name = arguments.what.name;
    return runs;
}

void run_recommend(recommend_arguments arguments, const shared_arguments& shared) {
    const bool from_csv = !arguments.data.read.file.empty();
    if (from_csv && !arguments.what.name.empty()) throw lab::input_error("either NAME or --runs: not both");
    const comparable_runs runs = from_csv ? runs_in(lab::read_csv(arguments.data.read.file), arguments)
                                          : stored_runs(arguments, shared);
    const advice found = advise(runs.table, arguments.advice);
    lab::answer(document_of(runs, found, arguments), arguments.data.as_json);
    if (!found.enough) throw CLI::RuntimeError(1);
}

}  // namespace

void add_recommend(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command =
        *app.add_subcommand("recommend",
                            "Ranks the configurations that were measured on a machine, and gives "
                            "the reasons for the best; prints 'not "
                            "enough data' and exits with 1 if that is so. For stored "
                            "indicators, or for the lab's runs (--runs)");
    auto arguments = std::make_shared<recommend_arguments>();
    lab::add_data_arguments(command, arguments->data);
    command.remove_option(command.get_option("FILE"));
    add_selection(command, arguments->what);
    add_store(command, arguments->store)->capture_default_str();
    command.add_option("--runs", arguments->data.read.file, "a CSV of the lab, instead of a store");
    command
        .add_option("--choice", arguments->comparable.choices,
                    "a parameter that counts as a choice, whatever its model says")
        ->allow_extra_args(false);
    command
        .add_option("--pool", arguments->comparable.pooled,
                    "a parameter, or a part of the stack, whose differences are ignored")
        ->allow_extra_args(false);
    command.add_flag("--pool-machines", arguments->comparable.pool_machines,
                     "compares runs of several machines");
    command
        .add_option("--least-runs", arguments->advice.least_runs,
                    "number of runs that a recommended configuration needs")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_option("--most", arguments->most, "how many are listed")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.callback([arguments, &shared] { run_recommend(*arguments, shared); });
}

}  // namespace indicators
