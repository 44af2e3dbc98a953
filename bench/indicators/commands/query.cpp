// indicators commands: query: prints stored results
#include "indicators/commands/command.hpp"
#include "lab/data/csv.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"

#include <iostream>
#include <set>

namespace indicators {

namespace {

struct query_arguments {
    selection what;
    std::string store = "indicators.sqlite";
    std::string format = "table";
    std::string lab_cost;
};

std::string cell(const json& value) {
    if (value.is_null()) return "";
    if (value.is_number_float()) return lab::exact_text(value.get<double>());
    return lab::plain_text(value);
}

// Columns that are not empty in all results.
std::vector<std::string> used_columns(const std::vector<found_result>& found) {
    std::vector<std::string> all;
    for (const found_result& one : found) {
        for (const auto& [key, value] : one.columns.items()) {
            if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(key);
        }
    }
    return all;
}

void print_csv(const std::vector<found_result>& found) {
    const std::vector<std::string> columns = used_columns(found);
    std::cout << lab::csv_line(columns);
    for (const found_result& one : found) {
        std::vector<std::string> fields;
        for (const std::string& column : columns) fields.push_back(cell(one.columns.value(column, json())));
        std::cout << lab::csv_line(fields);
    }
}

// In the format of the lab: parameters are factors, the cost is last, and other columns begin with @.
void print_for_lab(const std::vector<found_result>& found, const model& of, const std::string& cost) {
    const field* result = of.find(cost);
    if (cost != "overall_score" && (result == nullptr || !result->is_result))
        throw lab::input_error("--lab " + cost + ": " + of.name + " has no such result");
    std::vector<std::string> columns;
    for (const std::string& column : used_columns(found)) {
        const field* f = of.find(column);
        if (column.starts_with('@') || (f != nullptr && !f->is_result)) columns.push_back(column);
    }
    std::vector<std::string> header = columns;
    header.push_back(cost);
    std::cout << lab::csv_line(header);
    for (const found_result& one : found) {
        std::vector<std::string> fields;
        for (const std::string& column : columns) {
            const bool is_status = column == "@status" && one.status == "accepted";
            fields.push_back(is_status ? "ok" : cell(one.columns.value(column, json())));
        }
        fields.push_back(cell(one.values.value(cost, json())));
        std::cout << lab::csv_line(fields);
    }
}

json batches_of(result_store& store) {
    json all = json::array();
    for (const incomplete_batch& batch : incomplete_batches(store))
        all.push_back({{"batch", batch.id},
                       {"size", batch.size},
                       {"num_missing", batch.num_missing},
                       {"missing", batch.missing}});
    return all;
}

// For people: without columns that are constant or not compared.
json short_rows(const std::vector<found_result>& found) {
    static const std::set<std::string> always{"@id", "@status", "overall_score"};
    static const std::set<std::string> never{"@time",
                                             "@stack",
                                             "@place",
                                             "@end",
                                             "@version",
                                             "@origin",
                                             "@extra",
                                             "@batch",
                                             "@minor_faults",
                                             "@major_faults",
                                             "@blocks_in",
                                             "@blocks_out",
                                             "@voluntary_switches",
                                             "@involuntary_switches",
                                             "@user_s",
                                             "@system_s",
                                             "@peak_kb"};
    std::set<std::string> shown = always;
    for (const found_result& one : found)
        for (const auto& [key, value] : one.columns.items())
            if (!key.starts_with('@') ||
                (!never.contains(key) && value != found[0].columns.value(key, json())))
                shown.insert(key);
    json rows = json::array();
    for (const found_result& one : found) {
        json row = json::object();
        for (const auto& [key, value] : one.columns.items())
            if (shown.contains(key)) row[key] = value;
        if (one.id.size() == 64)
            row["@id"] = one.id.substr(0, 12);  // a hash, of which the beginning is enough
        rows.push_back(std::move(row));
    }
    return rows;
}

void run_query(const query_arguments& arguments, const shared_arguments& shared) {
    result_store store(arguments.store, lab::database::mode::reading);
    const registry models = shared.read_models_of(store);
    const std::vector<found_result> found = select_results(store, models, arguments.what);
    const json gaps = batches_of(store);
    if (!arguments.lab_cost.empty()) {
        if (arguments.what.name.empty()) throw lab::input_error("--lab: name the indicator");
        return print_for_lab(found, *models.find(arguments.what.name), arguments.lab_cost);
    }
    if (arguments.format == "csv") return print_csv(found);
    if (arguments.format == "json") {
        json rows = json::array();
        for (const found_result& one : found) rows.push_back(one.columns);
        std::cout << json{{"results", rows}, {"incomplete_batches", gaps}}.dump(
                         2, ' ', false, json::error_handler_t::replace)
                  << '\n';
        return;
    }
    if (found.empty()) {
        std::cout << "no results\n";
    } else {
        lab::show(json{{"results", short_rows(found)}}, false, std::cout);
        json same = json::object();
        for (const char* key : {"@name", "@machine", "@component"}) {
            const json first = found[0].columns.value(key, json());
            const bool all_same = std::all_of(found.begin(), found.end(), [&](const found_result& one) {
                return one.columns.value(key, json()) == first;
            });
            if (all_same && !first.is_null()) same[key] = first;
        }
        if (!same.empty()) lab::show(json{{"all have", same}}, false, std::cout);
    }
    if (!gaps.empty()) lab::show(json{{"incomplete batches", gaps}}, false, std::cout);
}

}  // namespace

void add_query(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command =
        *app.add_subcommand("query",
                            "Prints stored results that were accepted, and batches with missing runs");
    auto arguments = std::make_shared<query_arguments>();
    add_selection(command, arguments->what);
    add_store(command, arguments->store)->capture_default_str();
    command.add_flag("--all", arguments->what.all, "also failed and refused runs, with the reason");
    command.add_option("--format", arguments->format, "table, csv or json")
        ->check(CLI::IsMember({"table", "csv", "json"}))
        ->capture_default_str();
    command.add_flag_callback("--json", [arguments] { arguments->format = "json"; }, "--format json");
    command.add_flag_callback("--csv", [arguments] { arguments->format = "csv"; }, "--format csv");
    command.add_option("--lab", arguments->lab_cost,
                       "RESULT: a CSV for `lab`, in which that result is the cost");
    command.callback([arguments, &shared] { run_query(*arguments, shared); });
}

}  // namespace indicators
