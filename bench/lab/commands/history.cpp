// lab commands: history: the times at which a measurement changed
#include "lab/analysis/change_points.hpp"
#include "lab/commands/command.hpp"
#include "lab/data/csv.hpp"
#include "lab/data/input_error.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

namespace lab {

namespace {

struct history_arguments {
    std::string file;
    std::string cost;
    std::string time;
    std::string label;
    std::vector<std::string> by;
    bool rate = false;
    change_options changes;
    std::size_t last = 2000;
    std::size_t fail_on_worse = 0;
    bool as_json = false;
};

struct point {
    double time = 0;
    double value = 0;
    std::size_t line = 0;
    std::string label;
};

std::map<std::string, std::vector<point>> series_of(const csv_file& file,
                                                    const history_arguments& arguments) {
    const std::size_t cost =
        file.needed(arguments.cost.empty() ? file.header.back() : arguments.cost, "--cost");
    const auto time =
        arguments.time.empty() ? file.column("@time") : std::optional(file.needed(arguments.time, "--time"));
    std::optional<std::size_t> label;
    if (!arguments.label.empty()) label.emplace(file.needed(arguments.label, "--label"));
    const auto status = file.column("@status");
    std::vector<std::size_t> by;
    for (const std::string& name : arguments.by) by.push_back(file.needed(name, "--by"));
    std::map<std::string, std::vector<point>> series;
    for (const csv_row& row : file.rows) {
        if (status && row.fields[*status] != "ok") continue;
        std::string name;
        for (const std::size_t column : by)
            name += (name.empty() ? "" : ", ") + file.header[column] + "=" + row.fields[column];
        std::vector<point>& of = series[name];
        of.push_back({time ? file.number(row, *time) : static_cast<double>(row.line), file.number(row, cost),
                      row.line, label.has_value() ? row.fields[label.value()] : ""});
    }
    for (auto& [name, points] : series) {
        std::stable_sort(points.begin(), points.end(),
                         [](const point& a, const point& b) { return a.time < b.time; });
        if (points.size() > arguments.last)
            points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(arguments.last));
    }
    return series;
}

double mean_of(const std::vector<point>& points, std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += points[i].value;
    return sum / static_cast<double>(end - begin);
}

void run_history(const history_arguments& arguments) {
    const csv_file file = read_csv(arguments.file);
    const auto series = series_of(file, arguments);
    if (series.empty()) throw input_error(file.name, "has only runs that failed (@status)");
    json changes = json::array();
    json states = json::array();
    bool worse_lately = false;
    for (const auto& [name, points] : series) {
        std::vector<double> values;
        for (const point& p : points) values.push_back(p.value);
        const std::vector<change_point> found = change_points(values, arguments.changes);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::size_t begin = i == 0 ? 0 : found[i - 1].at;
            const std::size_t end = i + 1 == found.size() ? points.size() : found[i + 1].at;
            const double before = mean_of(points, begin, found[i].at);
            const double after = mean_of(points, found[i].at, end);
            const bool worse = arguments.rate ? after < before : after > before;
            const point& first = points[found[i].at];
            changes.push_back({{"series", name},
                               {"index", found[i].at},
                               {"line", first.line},
                               {"time", first.time},
                               {"label", first.label},
                               {"before", before},
                               {"after", after},
                               {"percent", 100 * (after / before - 1)},
                               {"is", worse ? "worse" : "better"},
                               {"p", found[i].p}});
            worse_lately = worse_lately || (worse && points.size() - found[i].at <= arguments.fail_on_worse);
        }
        const std::size_t since = found.empty() ? 0 : found.back().at;
        states.push_back({{"series", name},
                          {"runs", points.size()},
                          {"changes", found.size()},
                          {"runs_since", points.size() - since},
                          {"mean_since", mean_of(points, since, points.size())},
                          {"note", points.size() < 2 * arguments.changes.least
                                       ? "not enough runs: a change needs " +
                                             std::to_string(arguments.changes.least) + " before and after it"
                                       : ""}});
    }
    answer({{"file", file.name}, {"changes", changes}, {"now", states}}, arguments.as_json);
    if (worse_lately) throw CLI::RuntimeError(1);
}

}  // namespace

void add_history(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("history", "The times at which a measurement changed: change points");
    auto arguments = std::make_shared<history_arguments>();
    command.add_option("FILE", arguments->file, "measurements, with `;` between columns")->required();
    command.add_option("--cost", arguments->cost, "the measured column (default: the last one)");
    command.add_flag("--rate", arguments->rate, "more of it is better");
    command.add_option("--time", arguments->time,
                       "the column of the order (default: @time if it exists, else the order of the file)");
    command.add_option("--label", arguments->label, "a column that names a change, for example the commit");
    command.add_option("--by", arguments->by, "a series for each value of these columns")->delimiter(',');
    command
        .add_option("--least", arguments->changes.least, "minimum number of runs before and after a change")
        ->check(CLI::Range(2, 10'000))
        ->capture_default_str();
    command
        .add_option("--significance", arguments->changes.significance, "probability of a change by chance")
        ->check(CLI::Range(0.0001, 0.5))
        ->capture_default_str();
    command
        .add_option("--permutations", arguments->changes.permutations,
                    "number of permutations for the significance")
        ->check(CLI::Range(19, 100'000))
        ->capture_default_str();
    command.add_option("--seed", arguments->changes.seed, "for the permutations")->capture_default_str();
    command.add_option("--last", arguments->last, "uses only this many last runs of a series")
        ->check(CLI::Range(4, 100'000))
        ->capture_default_str();
    command.add_option("--fail-on-worse", arguments->fail_on_worse,
                       "exits with 1 if a change for the worse is among this many last runs");
    add_json_argument(command, arguments->as_json);
    command.callback([arguments] { run_history(*arguments); });
}

}  // namespace lab
