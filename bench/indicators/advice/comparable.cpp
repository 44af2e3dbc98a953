// indicators advice: decides which differences between runs are allowed in a comparison
#include "indicators/advice/comparable.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace indicators {

namespace {

struct column {
    std::string name;
    bool is_text = false;  // numbers in it are names
    std::vector<std::string> cells;

    [[nodiscard]] std::set<std::string> values() const { return {cells.begin(), cells.end()}; }
    // The partition of runs by equal cells: columns with the same partition distinguish the same runs.
    [[nodiscard]] std::vector<std::size_t> groups() const {
        std::map<std::string, std::size_t> seen;
        std::vector<std::size_t> all;
        for (const std::string& cell : cells)
            all.push_back(seen.try_emplace(cell, seen.size()).first->second);
        return all;
    }
};

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string cell_of(const json& value) {
    if (value.is_null()) return "(absent)";
    if (value.is_number_float()) return lab::exact_text(value.get<double>());
    const std::string text = lab::plain_text(value);
    return text.empty() ? "(empty)" : text;
}

// Shortens hashes to their begin.
void shorten(column& c) {
    constexpr std::size_t enough = 12;
    std::map<std::string, std::string> all;
    for (const std::string& cell : c.cells) {
        const bool is_hash = cell.size() == 64 && cell.find_first_not_of("0123456789abcdef") == cell.npos;
        const auto [place, is_new] = all.try_emplace(is_hash ? cell.substr(0, enough) : cell, cell);
        if (!is_new && place->second != cell) return;  // two hashes have the same begin
    }
    for (std::string& cell : c.cells)
        if (cell.size() == 64) cell = cell.substr(0, enough);
}

// "MATMUL_REPS" and "--reps=50" set a parameter of the document: the last words of their names are its name.
bool is_told(const std::string& name, const model& of) {
    const auto in_words = [](std::string text) {
        for (char& c : text) c = c == '-' || c == '.' ? '_' : c;
        return "_" + lab::lower(text);
    };
    return std::any_of(of.fields.begin(), of.fields.end(), [&](const field& f) {
        return !f.is_result && in_words(name).ends_with(in_words(f.name));
    });
}
std::string untold_arguments(const std::string& text, const model& of) {
    std::string left;
    std::istringstream words(text);
    bool skip = false;  // skips the value of "--reps 50"
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        const bool told = word.starts_with('-') && is_told(word.substr(0, equals), of);
        if (!told && !(skip && !word.starts_with('-'))) left += (left.empty() ? "" : " ") + word;
        skip = told && equals == word.npos;
    }
    return left;
}

std::string listed(const std::set<std::string>& values) {
    std::vector<std::string> few(values.begin(), values.end());
    const std::size_t all = few.size();
    if (all > 6) few.resize(6);
    return lab::joined(few) + (all > 6 ? ", ... (" + std::to_string(all) + ")" : "");
}

std::vector<column> parameter_columns(const std::vector<found_result>& found, const model& of,
                                      const comparable_options& how, json& fixed) {
    std::vector<column> all;
    for (const field& f : of.fields) {
        if (f.is_result || has(how.pooled, f.name)) continue;
        const bool is_choice = f.role == "choice" || has(how.choices, f.name);
        if (f.role == "effort" && !is_choice) continue;
        column one{f.name, f.type != field_type::integer && f.type != field_type::real, {}};
        for (const found_result& r : found) one.cells.push_back(cell_of(r.values.value(f.name, json())));
        const std::set<std::string> values = one.values();
        if (values.size() == 1) fixed[f.name] = found[0].values.value(f.name, json());
        if (values.size() < 2) continue;
        if (!is_choice)
            throw lab::input_error("the runs are of several workloads: " + f.name + " is " + listed(values) +
                                   "; say which one, as --where " + f.name + "=" + *values.begin() +
                                   ", or that it is yours to choose, --choice " + f.name +
                                   ", or that it makes no difference, --pool " + f.name);
        all.push_back(std::move(one));
    }
    return all;
}

// Component, version, and all differences of the stacks.
std::vector<column> stack_columns(const std::vector<found_result>& found, const model& of,
                                  const std::string& cost, const comparable_options& how) {
    std::set<std::string> names;
    for (const found_result& r : found)
        for (const auto& [name, value] : r.stack)
            if (!name.starts_with("env.") || !is_told(name, of)) names.insert(name);
    std::vector<column> all;
    for (const char* name : {"component", "version"}) {
        column one{name, true, {}};
        for (const found_result& r : found)
            one.cells.push_back(cell_of(r.columns.value("@" + std::string(name), json())));
        all.push_back(std::move(one));
    }
    for (const std::string& name : names) {
        const bool is_taken = of.find(name) != nullptr || name == cost || name == "component" ||
                              name == "version" || name.starts_with('@');
        column one{is_taken ? "stack." + name : name, true, {}};
        for (const found_result& r : found) {
            const auto value = r.stack.find(name);
            std::string text = value == r.stack.end() ? std::string() : value->second;
            if (name == "arguments") text = untold_arguments(text, of);
            one.cells.push_back(cell_of(text.empty() ? json() : json(text)));
        }
        all.push_back(std::move(one));
    }
    for (const std::string& name : how.pooled) {
        const bool is_known =
            of.find(name) != nullptr || name == "component" || name == "version" ||
            std::any_of(all.begin(), all.end(), [&](const column& c) { return c.name == name; });
        if (!is_known)
            throw lab::input_error("--pool " + name + ": there is no such parameter, or part of a stack");
    }
    std::erase_if(all, [&](const column& c) { return has(how.pooled, c.name) || c.values().size() < 2; });
    for (column& c : all) shorten(c);
    return all;
}

}  // namespace

void only_one_machine(const std::vector<std::string>& machines, bool pool_machines) {
    if (machines.size() < 2 || pool_machines) return;
    std::string list;
    for (const std::string& machine : machines) list += "\n    " + machine;
    throw lab::input_error(
        "the runs are of several machines; say which one with --machine PART, or --pool-machines if they "
        "may be compared with each other:" +
        list);
}

comparable_runs comparable(const std::vector<found_result>& found, const model& of,
                           const comparable_options& how) {
    comparable_runs result;
    for (const std::string& name : how.choices) {
        const field* f = of.find(name);
        if (f == nullptr || f->is_result)
            throw lab::input_error("--choice " + name + ": " + of.name + " has no such parameter");
    }
    const std::string cost = how.cost.empty() ? of.score_field : how.cost;
    const field* result_field = of.find(cost);
    if (cost != "overall_score" &&
        (result_field == nullptr || !result_field->is_result ||
         (result_field->type != field_type::real && result_field->type != field_type::integer)))
        throw lab::input_error(cost + ": " + of.name + " has no such result that is a number");
    std::vector<found_result> scored;
    for (const found_result& r : found)
        if (r.values.value(cost, json()).is_number()) scored.push_back(r);
    if (scored.size() < found.size())
        result.notes.push_back(std::to_string(found.size() - scored.size()) + " results have no " + cost +
                               ", and are left out");
    std::set<std::string> machines;
    for (const found_result& r : scored) machines.insert(r.machine);
    result.machines.assign(machines.begin(), machines.end());
    only_one_machine(result.machines, how.pool_machines);
    if (machines.size() > 1)
        result.notes.push_back("runs of " + std::to_string(machines.size()) +
                               " machines are compared with each other");

    const auto nobody_knows = [](const std::string& machine) {
        return machine.find("unknown machine") != machine.npos;
    };
    if (std::any_of(machines.begin(), machines.end(), nobody_knows))
        result.notes.push_back("some results don't say on which machine they were: that was perhaps not one");
    std::vector<column> columns = parameter_columns(scored, of, how, result.fixed);
    std::map<std::vector<std::size_t>, std::string> told_apart;
    for (const column& c : columns) told_apart.try_emplace(c.groups(), c.name);
    for (column& c : stack_columns(scored, of, cost, how)) {
        const auto [same, is_new] = told_apart.try_emplace(c.groups(), c.name);
        if (is_new) {
            columns.push_back(std::move(c));
        } else {
            result.notes.push_back(c.name + " differs as " + same->second + " does: " + listed(c.values()));
        }
    }
    lab::csv_file file{of.name, {}, {}};
    lab::read_options read;
    for (const column& c : columns) {
        file.header.push_back(c.name);
        if (c.is_text) read.levels.push_back(c.name);
    }
    file.header.push_back(cost);
    for (std::size_t i = 0; i < scored.size(); ++i) {
        lab::csv_row row{i + 2, {}};
        for (const column& c : columns) row.fields.push_back(c.cells[i]);
        row.fields.push_back(lab::exact_text(scored[i].values[cost].get<double>()));
        file.rows.push_back(std::move(row));
        result.ids.push_back(scored[i].id);
    }
    read.cost = cost;
    read.rate = how.is_rate || cost == "overall_score" || (cost == of.score_field && of.more_is_better);
    read.no_groups = true;
    if (scored.empty()) {
        result.table.cost_name = cost;
        result.table.more_is_better = read.rate;
    } else {
        result.table = lab::runs_of(file, read);
    }
    return result;
}

}  // namespace indicators
