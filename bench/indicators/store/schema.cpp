// indicators store: makes SQL and a page from a declaration
#include "indicators/store/schema.hpp"

#include "lab/data/database.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

namespace indicators {

namespace {

std::string sql_value(const json& value) {
    if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
    if (!value.is_string()) return value.dump();
    return "'" + lab::filled(value.get<std::string>(), "'", "''") + "'";
}

std::string sql_type(const field& f) {
    if (f.has_two_types()) return "ANY";
    switch (f.type) {
        case field_type::integer:
        case field_type::boolean:
            return "INTEGER";
        case field_type::real:
            return "REAL";
        default:
            return "TEXT";
    }
}

std::string column_of(const field& f) {
    const std::string name = lab::sql_name(f.name);
    std::string text = name + " " + sql_type(f) + (f.optional ? "" : " NOT NULL");
    const auto limit = [&](const char* relation, const std::optional<double>& number) {
        if (number && !f.has_two_types())
            text += " CHECK (" + name + " " + relation + " " + lab::exact_text(*number) + ")";
    };
    limit(">=", f.at_least);
    limit("<=", f.at_most);
    limit(">", f.above);
    limit("<", f.below);
    if (f.type == field_type::boolean) text += " CHECK (" + name + " IN (0, 1))";
    if (!f.one_of.empty()) {
        std::vector<std::string> values;
        for (const json& one : f.one_of) values.push_back(sql_value(one));
        text += " CHECK (" + name + " IN (" + lab::joined(values) + "))";
    }
    return text;
}

// "at least 1 rows, one of a, b".
std::string values_text(const field& f) {
    std::vector<std::string> all;
    if (f.at_least) all.push_back("at least " + lab::exact_text(*f.at_least));
    if (f.at_most) all.push_back("at most " + lab::exact_text(*f.at_most));
    if (f.above) all.push_back("above " + lab::exact_text(*f.above));
    if (f.below) all.push_back("below " + lab::exact_text(*f.below));
    std::vector<std::string> known;
    for (const json& one : f.one_of) known.push_back(lab::plain_text(one));
    if (!known.empty()) all.push_back("one of " + lab::joined(known));
    if (f.optional) all.push_back("may be left out");
    if (f.has_two_types()) all.push_back("in documents with `framework` " + type_name(f.type_of_framework));
    return lab::joined(all);
}

}  // namespace

std::string base_schema() {
    return R"(CREATE TABLE IF NOT EXISTS indicator_models (
    name TEXT PRIMARY KEY, declaration TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS indicator_batches (
    id TEXT PRIMARY KEY, size INTEGER NOT NULL CHECK (size > 0)
) STRICT;
CREATE TABLE IF NOT EXISTS indicator_results (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('accepted', 'failed', 'refused')),
    reasons TEXT NOT NULL,
    name TEXT, component TEXT, generation TEXT, version TEXT, origin TEXT,
    batch TEXT REFERENCES indicator_batches (id), place INTEGER,
    machine TEXT, host TEXT,
    started TEXT, started_unix REAL, ended TEXT, duration_s REAL,
    "end" TEXT, exit_code INTEGER, signal TEXT,
    ru_utime REAL, ru_stime REAL, ru_maxrss INTEGER, ru_minflt INTEGER, ru_majflt INTEGER,
    ru_inblock INTEGER, ru_oublock INTEGER, ru_nvcsw INTEGER, ru_nivcsw INTEGER,
    overall_score REAL,
    stack TEXT NOT NULL,
    document TEXT NOT NULL,
    is_lenient INTEGER NOT NULL,
    UNIQUE (batch, place)
) STRICT;
CREATE INDEX IF NOT EXISTS indicator_results_by_name ON indicator_results (name, status);
)";
}

std::string schema_of(const model& of) {
    std::string text = "CREATE TABLE " + lab::sql_name(of.table()) +
                       " (\n    \"@number\" INTEGER PRIMARY KEY REFERENCES indicator_results (number),\n";
    for (const field& f : of.fields) text += "    " + column_of(f) + ",\n";
    return text + "    \"@extra\" TEXT\n) STRICT;\n";
}

std::string page_of(const model& of) {
    std::string text = "# " + of.name + "\n\n" + of.about + (of.about.empty() ? "" : "\n\n");
    for (const bool is_result : {false, true}) {
        text +=
            is_result
                ? "## @result\n\n| name | type | unit | values | |\n|---|---|---|---|---|\n"
                : "## @parameters\n\n| name | type | unit | values | role | |\n|---|---|---|---|---|---|\n";
        for (const field& f : of.fields) {
            if (f.is_result != is_result) continue;
            text += "| `" + f.name + "` | " + type_name(f.type) + " | " + f.unit + " | " + values_text(f) +
                    " | " + (is_result ? "" : f.role + " | ") + f.about + " |\n";
        }
        text += "\n";
    }
    if (!of.checks.empty()) text += "## What has to hold\n\n";
    for (const derived_check& c : of.checks)
        text += "- " + (c.because.empty() ? "" : c.because + ": ") + "`" + c.text() + "`" +
                (c.equal.empty() ? "" : ", but for " + lab::short_text(c.within * 100) + " %") +
                (c.only_a_doubt ? " (else it is doubtful, and accepted)" : "") + "\n";
    return text + (of.checks.empty() ? "" : "\n") + "Ranked by `" + of.score_field +
           "`: " + (of.more_is_better ? "more" : "less") + " is better.\n";
}

}  // namespace indicators
