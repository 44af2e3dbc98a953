// weir report, internal: the tables of a database of runs, and their rows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_SCHEMA_HPP
#define WEIR_REPORT_SQLITE_SCHEMA_HPP

#include <weir/measure/stats.hpp>
#include <weir/report/cells.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/sqlite_file.hpp>

#include <cstdint>  // for std::int64_t
#include <string>   // for std::string

namespace weir::detail {

// What a file says that is ours, and by which schema it is made. "weir", as SQLite's PRAGMA application_id.
inline constexpr std::int64_t sqlite_application = 0x77656972;
inline constexpr std::int64_t sqlite_schema = 4;

[[nodiscard]] inline std::int64_t number_in(const sqlite_file& file, const char* sql) {
    sqlite_statement ask(file, sql);
    return ask.step() ? ask.number(0) : 0;
}

// What `runs` has of a run; `laps`, `stages` and `queues`, of a lap.
[[nodiscard]] inline cell_row head_cells(const run_record& run) {
    cell_row row;
    detail::add_cells(row, "name", run.name);
    detail::add_cells(row, "started", run.started);
    detail::add_cells(row, "ended", run.ended);
    detail::add_cells(row, "elapsed", run.total.elapsed);
    detail::add_cells(row, "num_failures", run.num_failures);
    detail::add_cells(row, "machine", run.machine);
    detail::add_cells(row, "build", run.build);
    return row;
}
[[nodiscard]] inline cell_row lap_cells(const pipeline_stats& lap) {
    cell_row row = pace_cells(lap);
    detail::add_cells(row, "process", lap.process);
    return row;
}

inline std::string sqlite_columns(const cell_row& row) {
    std::string text;
    for (const cell& each : row) text += ", \"" + each.column + "\"" + (each.is_text ? " TEXT" : " INTEGER");
    return text;
}

// Errors: one more: a file that is something else, or of another schema.
inline void refuse_other_schemas(const sqlite_file& file) {
    const std::int64_t application = detail::number_in(file, "PRAGMA application_id");
    const bool has_tables = detail::number_in(file, "SELECT count(*) FROM sqlite_master") != 0;
    if (application != sqlite_application && has_tables)
        file.fail("is a database of something else; it is left as it is: choose another path");
    const std::int64_t schema = detail::number_in(file, "PRAGMA user_version");
    if (application == sqlite_application && schema != sqlite_schema)
        file.fail("is of schema " + std::to_string(schema) + ", and this version of weir has " +
                  std::to_string(sqlite_schema) + ": choose another path");
}

// In a transaction: two processes may find that there are none.
inline void make_tables(sqlite_file& file) {
    detail::refuse_other_schemas(file);
    if (detail::number_in(file, "PRAGMA user_version") == sqlite_schema) return;
    file.run(("PRAGMA application_id = " + std::to_string(sqlite_application)).c_str());
    file.run(("PRAGMA user_version = " + std::to_string(sqlite_schema)).c_str());
    const std::string lap = "(run INTEGER, lap INTEGER, lap_begin INTEGER, lap_end INTEGER";
    const auto make = [&file](const std::string& table) { file.run(("CREATE TABLE " + table).c_str()); };
    make("runs(run INTEGER PRIMARY KEY AUTOINCREMENT" + sqlite_columns(head_cells({})) + ")");
    make("laps" + lap + sqlite_columns(lap_cells({})) + ", PRIMARY KEY(run, lap))");
    make("stages" + lap + ", stage INTEGER" + sqlite_columns(cells_of(stage_stats())) +
         ", PRIMARY KEY(run, lap, stage))");
    make("queues" + lap + ", queue INTEGER" + sqlite_columns(cells_of(channel_stats())) +
         ", PRIMARY KEY(run, lap, queue))");
    make("failures(run INTEGER, failure INTEGER" + sqlite_columns(cells_of(recorded_failure())) +
         ", PRIMARY KEY(run, failure))");
    make("json(run INTEGER, lap INTEGER, json TEXT, PRIMARY KEY(run, lap))");
}

inline void bind(sqlite_statement& to, const cell_row& row) {
    for (const cell& each : row) {
        if (each.value) {
            to << *each.value;
        } else {
            to << nullptr;
        }
    }
}

}  // namespace weir::detail

#endif
