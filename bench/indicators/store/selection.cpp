// indicators store: turns conditions into SQL
#include "indicators/store/selection.hpp"

#include "indicators/store/condition.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <set>

namespace indicators {

namespace {

// The values that are bound to the places of a condition, in their order.
struct clauses {
    std::string sql;
    std::vector<json> values;

    void add(const std::string& condition, std::vector<json> more) {
        sql += " AND " + condition;
        for (json& value : more) values.push_back(std::move(value));
    }
};

json value_in(const std::string& text, const field& of, const std::string& whole) {
    if (of.type == field_type::boolean) {
        if (text == "true" || text == "1" || text == "yes") return 1;
        if (text == "false" || text == "0" || text == "no") return 0;
        throw lab::input_error("'" + whole + "': " + of.name + " is true or false");
    }
    const auto number = lab::number_in(text);
    if (of.type == field_type::integer || of.type == field_type::real) {
        if (number) return *number;
        if (!of.has_two_types())
            throw lab::input_error("'" + whole + "': " + of.name + " is " + type_name(of.type));
    }
    return text;
}

void add_where(clauses& to, const model* of, const std::string& text) {
    const condition c = condition_in(text);
    static const field score = [] {
        field overall;
        overall.name = "overall_score";
        overall.type = overall.type_of_framework = field_type::real;
        return overall;
    }();
    if (of == nullptr) throw lab::input_error("'" + text + "': name an indicator, whose parameter that is");
    const field* f = c.field == score.name ? &score : of->find(c.field);
    if (f == nullptr)
        throw lab::input_error("'" + text + "': " + of->name + " has no '" + c.field + "'; it has " +
                               lab::joined(of->names()));
    const std::string column = (f == &score ? "r." : "m.") + lab::sql_name(f->name);
    std::vector<json> values;
    std::string places;
    for (const std::string& value : c.values) {
        values.push_back(value_in(value, *f, text));
        places += places.empty() ? "?" : ", ?";
    }
    if (c.relation == "=" || c.relation == "!=") {
        to.add(column + (c.relation == "=" ? " IN (" : " NOT IN (") + places + ")", values);
    } else {
        to.add(column + " " + c.relation + " ?", values);
    }
}

void add_time(clauses& to, lab::database& file, const std::string& text, const char* relation) {
    if (text.empty()) return;
    lab::statement time(file, "SELECT (julianday(?1) - 2440587.5) * 86400.0");
    // SQLite also treats "12" as a day.
    if (text.size() < 10 || text[4] != '-' || !time.bind(1, text).next() || time.is_null(0))
        throw lab::input_error("'" + text + "' is no time; write 2026-11-25 or 2026-11-25T02:54:16Z");
    to.add(std::string("r.started_unix ") + relation + " ?", {time.number(0)});
}

const std::string machine_column =
    "(ifnull(r.host, 'unknown host') || ': ' || ifnull(r.machine, 'unknown machine'))";

clauses clauses_of(lab::database& file, const model* of, const selection& what) {
    clauses all;
    if (!what.all) all.add("r.status = 'accepted'", {});
    if (!what.name.empty()) all.add("r.name = ?", {what.name});
    for (const std::string& text : what.where) add_where(all, of, text);
    if (!what.machine.empty()) all.add("instr(" + machine_column + ", ?) > 0", {what.machine});
    for (const std::string& text : what.stack) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos || equals == 0)
            throw lab::input_error("'" + text + "': write --stack NAME=PART");
        all.add("EXISTS (SELECT 1 FROM json_each(r.stack) AS s WHERE s.key = ? AND instr(s.value, ?) > 0)",
                {text.substr(0, equals), text.substr(equals + 1)});
    }
    add_time(all, file, what.since, ">=");
    add_time(all, file, what.until, "<");
    if (!what.version.empty()) all.add("instr(r.version, ?) = 1", {what.version});
    return all;
}

json cell(const lab::statement& row, int column) {
    if (row.is_null(column)) return nullptr;
    if (row.is_integer(column)) return row.integer(column);
    if (row.is_number(column)) return row.number(column);
    return row.text(column);
}

}  // namespace

std::vector<found_result> select_results(result_store& store, const registry& models, const selection& what) {
    const model* of = what.name.empty() ? nullptr : models.find(what.name);
    if (!what.name.empty() && of == nullptr)
        throw lab::input_error("no indicator '" + what.name + "' is registered; there is " +
                               lab::joined(models.names()));
    if (!store.has_results()) throw lab::input_error(store.file().path(), "has no indicators in it");
    lab::database& file = store.file();
    bool has_table = false;
    if (of != nullptr) {
        lab::statement table(file,
                             "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE");
        has_table = table.bind(1, of->table()).next();
    }
    if (of != nullptr && !has_table && !what.where.empty()) {
        for (const std::string& text : what.where) {
            clauses unused;
            add_where(unused, of, text);
        }
        return {};
    }
    const clauses filter = clauses_of(file, of, what);
    static const std::vector<std::pair<std::string, std::string>> about{{"@id", "r.id"},
                                                                        {"@name", "r.name"},
                                                                        {"@component", "r.component"},
                                                                        {"@version", "r.version"},
                                                                        {"@origin", "r.origin"},
                                                                        {"@status", "r.status"},
                                                                        {"@reasons", "nullif(r.reasons, '')"},
                                                                        {"@machine", machine_column},
                                                                        {"@started", "r.started"},
                                                                        {"@time", "r.started_unix"},
                                                                        {"@duration_s", "r.duration_s"},
                                                                        {"@batch", "r.batch"},
                                                                        {"@place", "r.place"},
                                                                        {"@end", "r.\"end\""},
                                                                        {"@exit_code", "r.exit_code"},
                                                                        {"@signal", "r.signal"},
                                                                        {"@user_s", "r.ru_utime"},
                                                                        {"@system_s", "r.ru_stime"},
                                                                        {"@peak_kb", "r.ru_maxrss"},
                                                                        {"@minor_faults", "r.ru_minflt"},
                                                                        {"@major_faults", "r.ru_majflt"},
                                                                        {"@blocks_in", "r.ru_inblock"},
                                                                        {"@blocks_out", "r.ru_oublock"},
                                                                        {"@voluntary_switches", "r.ru_nvcsw"},
                                                                        {"@involuntary_switches",
                                                                         "r.ru_nivcsw"}};
    std::string sql = "SELECT r.stack, r.overall_score, m.\"@extra\"";
    if (!has_table) sql = "SELECT r.stack, r.overall_score, NULL";
    for (const auto& [name, expression] : about) sql += ", " + expression;
    if (has_table)
        for (const field& f : of->fields) sql += ", m." + lab::sql_name(f.name);
    sql += " FROM indicator_results AS r";
    if (has_table) sql += " LEFT JOIN " + lab::sql_name(of->table()) + " AS m ON m.\"@number\" = r.number";
    sql += " WHERE true" + filter.sql + " ORDER BY r.number";
    lab::statement rows(file, sql);
    int place = 0;
    for (const json& value : filter.values) {
        ++place;
        if (value.is_number()) {
            rows.bind(place, value.get<double>());
        } else {
            rows.bind(place, value.get<std::string>());
        }
    }
    std::vector<found_result> found;
    while (rows.next()) {
        found_result one;
        one.columns = json::object();
        one.values = json::object();
        for (std::size_t i = 0; i < about.size(); ++i)
            one.columns[about[i].first] = cell(rows, static_cast<int>(i) + 3);
        one.id = one.columns["@id"];
        one.status = one.columns["@status"];
        one.machine = one.columns["@machine"];
        const json stack = json::parse(rows.text(0));
        for (const auto& [key, value] : stack.items()) one.stack[key] = lab::plain_text(value);
        one.columns["@stack"] = one.stack;
        if (has_table) {
            int column = static_cast<int>(about.size()) + 3;
            for (const field& f : of->fields) {
                json value = cell(rows, column++);
                if (f.type == field_type::boolean && value.is_number()) value = value.get<int>() != 0;
                one.columns[f.name] = one.values[f.name] = std::move(value);
            }
        }
        if (!rows.is_null(2)) one.columns["@extra"] = json::parse(rows.text(2));
        one.columns["overall_score"] = one.values["overall_score"] = cell(rows, 1);
        found.push_back(std::move(one));
    }
    return found;
}

std::vector<incomplete_batch> incomplete_batches(result_store& store) {
    std::vector<incomplete_batch> all;
    lab::statement batches(
        store.file(),
        "SELECT b.id, b.size FROM indicator_batches AS b WHERE b.size >"
        " (SELECT count(*) FROM indicator_results AS r WHERE r.batch = b.id) ORDER BY b.id");
    lab::statement places(store.file(), "SELECT place FROM indicator_results WHERE batch = ?1");
    while (batches.next()) {
        incomplete_batch one{batches.text(0), batches.integer(1), {}, 0};
        std::set<std::int64_t> there;
        places.bind(1, one.id);
        while (places.next()) there.insert(places.integer(0));
        constexpr std::size_t most_listed = 1000;
        one.num_missing = one.size - static_cast<std::int64_t>(there.size());
        for (std::int64_t i = 0; i < one.size && one.missing.size() < most_listed; ++i)
            if (!there.contains(i)) one.missing.push_back(i);
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace indicators
