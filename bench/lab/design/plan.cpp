// lab design: reads and writes plans as text
#include "lab/design/plan.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"

#include <algorithm>
#include <optional>

namespace lab {

namespace {

std::size_t factor_named(const factor_file& file, const std::string& name, const std::string& where,
                         std::size_t line) {
    if (const auto place = place_of(file.factors, name)) return *place;
    throw input_error(where, line,
                      file.name + " has no factor '" + name + "'; it has " + names_of(file.factors));
}

double value_in(const factor& f, const std::string& text, const std::string& where, std::size_t line) {
    const std::optional<double> value = value_of(f, text);
    if (!value) throw input_error(where, line, f.name + " can't be '" + text + "'; it is " + values_text(f));
    return *value;
}

}  // namespace

std::string plan_text(const plan& what) {
    std::vector<std::string> fields{"@block", "@plot", "@control"};
    for (const factor& f : what.factors) fields.push_back(f.name);
    std::string text = csv_line(fields);
    for (const planned_run& run : what.runs) {
        fields = {std::to_string(run.block), run.plot, run.control};
        for (std::size_t f = 0; f < what.factors.size(); ++f)
            fields.push_back(what.factors[f].text_of(run.values[f]));
        text += csv_line(fields);
    }
    return text;
}

plan plan_of(const csv_file& rows, const factor_file& file) {
    plan result{rows.name, file.factors, {}};
    std::vector<std::optional<std::size_t>> factor_of;
    for (const std::string& name : rows.header)
        factor_of.push_back(name.starts_with('@') ? std::nullopt
                                                  : std::optional(factor_named(file, name, rows.name, 1)));
    const auto block = rows.column("@block");
    const auto plot = rows.column("@plot");
    const auto control = rows.column("@control");
    for (const csv_row& row : rows.rows) {
        planned_run run;
        run.values = file.base();
        run.line = row.line;
        for (std::size_t c = 0; c < row.fields.size(); ++c)
            if (factor_of[c])
                run.values[*factor_of[c]] =
                    value_in(file.factors[*factor_of[c]], row.fields[c], rows.name, row.line);
        if (block) run.block = static_cast<std::size_t>(number_in(row.fields[*block]).value_or(0));
        if (plot) run.plot = row.fields[*plot];
        if (control) run.control = row.fields[*control];
        if (const constraint* broken = file.broken_by(run.values))
            throw input_error(rows.name, row.line,
                              "breaks the constraint '" + broken->text + "' of " + file.name);
        result.runs.push_back(std::move(run));
    }
    return result;
}

plan read_plan(const std::string& path, const factor_file& file) { return plan_of(read_csv(path), file); }

configuration configuration_in(const std::string& text, const factor_file& file) {
    configuration values = file.base();
    const std::string where = "'" + text + "'";
    for (std::string rest = text; !rest.empty();) {
        const std::size_t comma = rest.find(',');
        const std::string part = rest.substr(0, comma);
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos) throw input_error(where, "write FACTOR=VALUE,FACTOR=VALUE");
        const std::size_t f = factor_named(file, part.substr(0, equals), where, 1);
        values[f] = value_in(file.factors[f], part.substr(equals + 1), where, 1);
    }
    if (const constraint* broken = file.broken_by(values))
        throw input_error(where, "breaks the constraint '" + broken->text + "' of " + file.name);
    return values;
}

}  // namespace lab
