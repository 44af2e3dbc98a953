// lab commands: deltas: the change by each treatment alone
#include "lab/analysis/deltas.hpp"

#include "lab/commands/command.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"

#include <algorithm>
#include <fstream>
#include <memory>

namespace lab {

namespace {

struct deltas_arguments : data_arguments {
    pairing how = pairing::all;
    std::string file;
    bool list = false;
};

// Each other treatment of X is a column of 0 and 1; a number is its value.
struct beside {
    std::size_t factor = 0;
    double value = 0;
    std::string name;
};
std::vector<beside> columns_of(const run_table& table) {
    std::vector<beside> columns;
    for (std::size_t f = 0; f < table.factors.size(); ++f) {
        const factor& what = table.factors[f];
        if (what.is_number()) {
            columns.push_back({f, 0, what.name});
        } else {
            for (std::size_t level = 1; level < what.levels.size(); ++level) {
                const double value = static_cast<double>(level);
                columns.push_back({f, value, what.treatment(value)});
            }
        }
    }
    return columns;
}
double beside_of(const run_table& table, const beside& column, const delta& d) {
    const double value = d.with[column.factor];
    if (table.factors[column.factor].is_number()) return value;
    return value == column.value ? 1 : 0;
}

void write_deltas(const std::string& file, const run_table& table, const std::vector<delta>& deltas) {
    std::ofstream out(file);
    const std::vector<beside> columns = columns_of(table);
    std::vector<std::string> fields{"factor", "before", "after", "delta"};
    for (const beside& column : columns) fields.push_back(column.name);
    out << csv_line(fields);
    for (const delta& d : deltas) {
        fields = {table.factors[d.factor].treatment(d.value), exact_text(d.before), exact_text(d.after),
                  exact_text(d.change())};
        for (const beside& column : columns) fields.push_back(exact_text(beside_of(table, column, d)));
        out << csv_line(fields);
    }
    out.close();
    if (!out) throw input_error(file, "can't be written");
}

json means_of(const std::vector<mean_delta>& means) {
    json result = json::array();
    for (const mean_delta& m : means) {
        result.push_back({{"treatment", m.treatment},
                          {"mean", m.mean},
                          {"low", m.low},
                          {"high", m.high},
                          {"mean_log2", m.mean_log2},
                          {"deltas", m.num_deltas},
                          {"runs", m.num_runs}});
    }
    return result;
}

json crossings_of(const std::vector<mean_delta>& means, const std::vector<delta>& deltas) {
    json result = json::array();
    for (const mean_delta& m : means) {
        const crossing c = crossing_of(deltas, m.factor, m.value);
        result.push_back({{"treatment", m.treatment},
                          {"intercept", c.intercept},
                          {"slope", c.slope},
                          {"crosses_at", c.at}});
    }
    return result;
}

json explanations_of(const run_table& table, const std::vector<mean_delta>& means,
                     const std::vector<delta>& deltas) {
    constexpr std::size_t most = 3;
    json result = json::array();
    for (const mean_delta& m : means) {
        const std::vector<split> splits = splits_of(table, deltas, m.factor, m.value);
        for (std::size_t i = 0; i < std::min(most, splits.size()); ++i) {
            const split& s = splits[i];
            result.push_back({{"treatment", m.treatment},
                              {"by", s.treatment},
                              {"explained", s.explained},
                              {"mean_without", s.mean_without},
                              {"mean_with", s.mean_with},
                              {"deltas_without", s.num_without},
                              {"deltas_with", s.num_with}});
        }
    }
    return result;
}

json list_of(const run_table& table, const std::vector<delta>& deltas) {
    json result = json::array();
    const std::vector<beside> columns = columns_of(table);
    for (const delta& d : deltas) {
        json row = {{"factor", table.factors[d.factor].treatment(d.value)},
                    {"before", d.before},
                    {"after", d.after},
                    {"delta", d.change()}};
        for (const beside& column : columns) row[column.name] = beside_of(table, column, d);
        result.push_back(std::move(row));
    }
    return result;
}

void run_deltas(const deltas_arguments& arguments) {
    const run_table table = read_data(arguments);
    const std::vector<delta> deltas = deltas_of(table, arguments.how);
    json document{{"data", data_summary(table)}, {"deltas", deltas.size()}};
    if (deltas.empty()) {
        document["message"] =
            "no two runs differ in one treatment alone; `lab plan --kind around` plans the missing ones";
    } else {
        const std::vector<mean_delta> means = mean_deltas(table, deltas);
        document["means"] = means_of(means);
        document["crossings"] = crossings_of(means, deltas);
        document["explanations"] = explanations_of(table, means, deltas);
    }
    if (!arguments.file.empty()) {
        write_deltas(arguments.file, table, deltas);
        document["file"] = arguments.file;
    }
    if (arguments.list) document["list"] = list_of(table, deltas);
    answer(document, arguments.as_json);
}

}  // namespace

void add_deltas(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("deltas",
                            "The change by each treatment, over all pairs of runs that differ only in it");
    auto arguments = std::make_shared<deltas_arguments>();
    add_data_arguments(command, *arguments);
    command
        .add_option("--pairing", arguments->how,
                    "pairing of repeated runs: all with all, by means, or with the nearest in time")
        ->transform(CLI::CheckedTransformer(std::map<std::string, pairing>{{"all", pairing::all},
                                                                           {"mean", pairing::mean},
                                                                           {"nearest", pairing::nearest}}))
        ->option_text("all|mean|nearest=all");
    command.add_option(
        "--deltas", arguments->file,
        "writes the changes to this file: factor, before, after, delta, and the other treatments");
    command.add_flag("--list", arguments->list, "with each delta");
    command.callback([arguments] { run_deltas(*arguments); });
}

}  // namespace lab
