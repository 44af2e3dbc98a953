// lab data: makes measured runs from text
#include "lab/data/run_table.hpp"

#include "lab/data/column_groups.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace lab {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Names of levels that mean "nothing".
bool says_nothing(const std::string& level) {
    static const std::array<const char*, 9> words{"0",    "off",     "no",   "false", "none",
                                                  "base", "default", "auto", "other"};
    return std::find(words.begin(), words.end(), lower(level)) != words.end();
}

// A column of the file as a factor, and the value of each of its texts.
struct coded_column {
    lab::factor factor;
    std::map<std::string, double> values;
};

coded_column coded(const std::string& name, const std::set<std::string>& texts, const read_options& options,
                   const std::string& base) {
    coded_column column;
    lab::factor& f = column.factor;
    f.name = name;
    const bool as_levels = has(options.levels, name);
    const bool numbers = std::all_of(texts.begin(), texts.end(),
                                     [](const std::string& t) { return number_in(t).has_value(); });
    const bool zero_one = numbers && std::all_of(texts.begin(), texts.end(), [](const std::string& t) {
                              return *number_in(t) == 0 || *number_in(t) == 1;
                          });
    if (zero_one && base.empty()) {
        for (const std::string& t : texts) column.values[t] = *number_in(t);
        return column;
    }
    if (numbers && !as_levels && !zero_one) {
        f.kind = factor_kind::number;
        f.logarithmic = has(options.log2, name);
        for (const std::string& t : texts) column.values[t] = *number_in(t);
        f.low = f.high = column.values.begin()->second;
        for (const auto& [t, v] : column.values) {
            f.low = std::min(f.low, v);
            f.high = std::max(f.high, v);
        }
        f.base = f.low;
        if (!base.empty()) {
            if (!column.values.contains(base))
                throw input_error("--base " + name + "=" + base + ": no run has it");
            f.base = column.values.at(base);
        }
        return column;
    }
    f.levels.assign(texts.begin(), texts.end());
    if (numbers) {
        std::sort(f.levels.begin(), f.levels.end(),
                  [](const std::string& a, const std::string& b) { return *number_in(a) < *number_in(b); });
    }
    const auto first = std::find_if(f.levels.begin(), f.levels.end(), [&](const std::string& level) {
        return base.empty() ? says_nothing(level) : level == base;
    });
    if (first != f.levels.end()) std::rotate(f.levels.begin(), first, first + 1);
    if (!base.empty() && first == f.levels.end()) {
        throw input_error("--base " + name + "=" + base + ": no run has it; there is " + joined(f.levels));
    }
    const bool on_off = f.levels.size() == 2 && says_nothing(f.levels[0]) &&
                        (has({"1", "on", "yes", "true"}, lower(f.levels[1])));
    f.kind = on_off ? factor_kind::on_off : factor_kind::levels;
    for (std::size_t i = 0; i < f.levels.size(); ++i) column.values[f.levels[i]] = static_cast<double>(i);
    return column;
}

std::map<std::string, std::string> bases_of(const csv_file& file, const read_options& options) {
    std::map<std::string, std::string> bases;
    for (const std::string& text : options.bases) {
        const std::size_t at = text.find('=');
        if (at == std::string::npos) throw input_error("--base " + text + ": write it as COLUMN=VALUE");
        file.needed(text.substr(0, at), "--base");
        bases[text.substr(0, at)] = text.substr(at + 1);
    }
    return bases;
}

}  // namespace

std::size_t run_table::factor_of(const std::string& factor_name) const {
    if (const auto place = place_of(factors, factor_name)) return *place;
    throw input_error(name, "there is no factor '" + factor_name + "'; there is " + names_of(factors));
}

configuration run_table::base() const {
    configuration values;
    for (const factor& f : factors) values.push_back(f.base_value());
    return values;
}

std::vector<repeated_configuration> configurations_of(const run_table& table) {
    std::map<configuration, std::size_t> places;
    std::vector<repeated_configuration> result;
    for (std::size_t i = 0; i < table.runs.size(); ++i) {
        const auto [found, is_new] = places.try_emplace(table.runs[i].values, result.size());
        if (is_new) result.push_back({table.runs[i].values, {}, 0});
        result[found->second].runs.push_back(i);
    }
    for (repeated_configuration& c : result) {
        for (const std::size_t i : c.runs) c.mean += table.runs[i].cost;
        c.mean /= static_cast<double>(c.runs.size());
    }
    return result;
}

run_table runs_of(const csv_file& file, const read_options& options) {
    run_table table;
    table.name = file.name;
    table.cost_name = options.cost.empty() ? file.header.back() : options.cost;
    table.more_is_better = options.rate;
    const std::size_t cost = file.needed(table.cost_name, "--cost");
    for (const std::string& name : options.ignore) file.needed(name, "--ignore");
    for (const std::string& name : options.levels) file.needed(name, "--levels");
    for (const std::string& name : options.log2) file.needed(name, "--log2");
    if (has(options.ignore, table.cost_name)) {
        throw input_error("--ignore " + table.cost_name +
                          ": that is the cost; nothing would be left to analyse");
    }
    auto time = options.time.empty() ? file.column("@time") : file.needed(options.time, "--time");
    table.has_times = time.has_value();
    const auto status = file.column("@status");
    const auto plot = file.column("@plot");

    std::vector<const csv_row*> rows;
    for (const csv_row& row : file.rows) {
        if (status && row.fields[*status] != "ok") {
            ++table.num_failed;
        } else {
            rows.push_back(&row);
        }
    }
    if (rows.empty()) {
        throw input_error(file.name, table.num_failed == 0 ? "has no runs, only the names of columns"
                                                           : "has only runs that failed (@status)");
    }

    std::vector<std::size_t> columns;
    std::vector<coded_column> codes;
    const auto bases = bases_of(file, options);
    for (std::size_t c = 0; c < file.header.size(); ++c) {
        const std::string& name = file.header[c];
        if (c == cost || c == time || name.starts_with('@') || has(options.ignore, name)) continue;
        std::set<std::string> texts;
        for (const csv_row* row : rows) {
            if (row->fields[c].empty()) {
                throw input_error(file.name, row->line,
                                  "there is no value of '" + name +
                                      "'; give it one, or leave the column out (--ignore)");
            }
            if (lower(row->fields[c]) == "nan") {
                throw input_error(file.name, row->line,
                                  "'" + row->fields[c] + "' is no value of '" + name + "'");
            }
            texts.insert(row->fields[c]);
        }
        if (texts.size() == 1) {
            table.notes.push_back(name + " is " + *texts.begin() +
                                  " in every run: nothing can be said of it");
            continue;
        }
        const auto base = bases.find(name);
        columns.push_back(c);
        codes.push_back(coded(name, texts, options, base == bases.end() ? "" : base->second));
        if (codes.back().factor.is_number() && rows.size() > 20 && texts.size() * 10 > rows.size() * 9) {
            table.notes.push_back(name +
                                  " has another number in nearly every run; if that was measured, leave it "
                                  "out (--ignore " +
                                  name + ")");
        }
    }
    for (const coded_column& c : codes) table.factors.push_back(c.factor);

    for (const csv_row* row : rows) {
        measured_run run;
        run.line = row->line;
        run.cost = file.number(*row, cost);
        run.time = time ? file.number(*row, *time) : static_cast<double>(table.runs.size());
        if (plot) run.plot = row->fields[*plot];
        for (std::size_t i = 0; i < columns.size(); ++i) {
            run.values.push_back(codes[i].values.at(row->fields[columns[i]]));
        }
        table.runs.push_back(std::move(run));
    }
    if (!options.no_groups) group_columns(table);
    for (const std::string& name : options.without) leave_out(table, name);
    return table;
}

run_table read_runs(const read_options& options) { return runs_of(read_csv(options.file), options); }

}  // namespace lab
