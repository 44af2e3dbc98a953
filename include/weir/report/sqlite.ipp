// weir report, internal: bodies of the functions of report/sqlite.hpp, always inline
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_IPP
#define WEIR_REPORT_SQLITE_IPP

#include <weir/report/sqlite.hpp>

#include <weir/platform/system_info.hpp>
#include <weir/report/json.hpp>

// Inline also with WEIR_SEPARATE_COMPILATION: src.hpp, which then compiles all other bodies once, would need
// the header of SQLite.

namespace weir::detail {

// Stored in the file: "weir" as SQLite's PRAGMA application_id, and the version of the tables.
inline constexpr std::int64_t sqlite_application = 0x77656972;
inline constexpr std::int64_t sqlite_schema = 4;

// \returns the first column of a query's first row; 0 without a row.
[[nodiscard]] inline std::int64_t number_in(const sqlite_file& file, const char* sql) {
    sqlite_statement ask(file, sql);
    return ask.step() ? ask.number(0) : 0;
}

// \returns a row of the table `runs`; `lap_cells` returns a row of the table `laps`.
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
    cell_row row = pipeline_cells(lap);
    detail::add_cells(row, "process", lap.process);
    return row;
}

inline std::string sqlite_columns(const cell_row& row) {
    std::string text;
    for (const cell& each : row) text += ", \"" + each.column + "\"" + (each.is_text ? " TEXT" : " INTEGER");
    return text;
}

// Throws an error if the file has tables of another program, or if weir made the file with another version of
// the tables. A file of another program without tables is accepted.
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

// Creates the tables if the file has none. The caller has begun a transaction: otherwise two processes might
// both find no tables, and both create them.
inline void make_tables(sqlite_file& file) {
    detail::refuse_other_schemas(file);
    if (detail::number_in(file, "PRAGMA application_id") == sqlite_application) return;
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

}  // namespace weir::detail

namespace weir {

inline void sqlite_report::begins(const pipeline_stats& all) {
    file_.reset();
    file_.emplace(path_, detail::sqlite_file::use::write);
    record_.started = detail::utc_now();
    record_.ended = false;
    record_.outcome.clear();
    record_.total = all;
    written_ = {};
    pending_laps_.clear();
    pending_failures_.clear();
    {
        const std::lock_guard guard(lock_);
        num_failures_ = 0;
        failures_.clear();
        laps_ = 0;
        is_joining_ = false;
    }
    static_cast<void>(write(lap_patience()));
}

inline void sqlite_report::ends(const pipeline_stats& rest, const pipeline_stats& all) {
    if (!detail::is_empty_lap(rest)) enqueue(rest);
    record_.total = all;
    record_.ended = true;
    if (!write(patience_)) {
        file_.reset();
        throw std::runtime_error(path_ + ": others had it locked until the end, so that it lacks " +
                                 (written_.run == 0 ? "the run" : "the end of the run") + ", with " +
                                 std::to_string(pending_laps_.size()) + " laps");
    }
    // Moves the write-ahead log into the database file, unless another connection still uses the log.
    file_->wait_at_most(0);
    static_cast<void>(file_->run_unless_busy("PRAGMA journal_mode = DELETE"));
    file_.reset();
}

inline void sqlite_report::enqueue(const pipeline_stats& one) {
    if (pending_laps_.size() >= most_pending) {
        pending_laps_.back() = joined(pending_laps_.back(), one);
        return;
    }
    pending_laps_.push_back(one);
    const std::lock_guard guard(lock_);
    ++laps_;
    is_joining_ = pending_laps_.size() >= most_pending;
}

inline bool sqlite_report::write(duration wait) {
    file_->wait_at_most(wait / std::chrono::milliseconds(1));
    const bool is_first = written_.run == 0;
    if (is_first && !file_->run_unless_busy("PRAGMA synchronous = NORMAL")) return false;
    if (!file_->run_unless_busy("BEGIN IMMEDIATE")) return false;
    try {
        const written all = insert_all();
        if (!file_->run_unless_busy("COMMIT")) {
            file_->roll_back();
            return false;
        }
        written_ = all;
    } catch (...) {
        file_->roll_back();
        throw;
    }
    pending_laps_.clear();
    pending_failures_.clear();
    // Only now: insert_all() refuses the file of another program, which has to stay as it is.
    if (is_first) static_cast<void>(file_->run_unless_busy("PRAGMA journal_mode = WAL"));
    return true;
}

inline auto sqlite_report::insert_all() -> written {
    written now = written_;
    record_.num_failures = take_failures();
    if (now.run == 0) {
        detail::make_tables(*file_);
        insert("runs", "NULL", detail::head_cells(record_));
        now.run = file_->last_row();
    }
    for (const pipeline_stats& one : pending_laps_) {
        insert_lap(now, one);
        ++now.laps;
        now.until += one.elapsed;
    }
    for (const recorded_failure& each : pending_failures_) {
        insert("failures", std::to_string(now.run) + "," + std::to_string(now.failures++),
               detail::cells_of(each));
    }
    detail::sqlite_statement run(*file_,
                                 "UPDATE runs SET ended = ?, elapsed = ?, num_failures = ? WHERE run = ?");
    run << std::int64_t{record_.ended} << record_.total.elapsed.count()
        << static_cast<std::int64_t>(record_.num_failures) << now.run;
    run.step();
    if (written_.run == 0 || record_.ended) write_json(now.run, head_lap, weir::json_text(record_));
    return now;
}

inline void sqlite_report::insert_lap(const written& before, const pipeline_stats& one) {
    const std::string key = std::to_string(before.run) + "," + std::to_string(before.laps);
    const std::string times = key + "," + std::to_string(before.until.count()) + "," +
                              std::to_string((before.until + one.elapsed).count());
    insert("laps", times, detail::lap_cells(one));
    for (std::size_t i = 0; i < one.stages.size(); ++i)
        insert("stages", times + "," + std::to_string(i), detail::cells_of(one.stages[i]));
    for (std::size_t i = 0; i < one.channels.size(); ++i)
        insert("queues", times + "," + std::to_string(i), detail::cells_of(one.channels[i]));
    std::string json;
    detail::append_json(json, one);
    write_json(before.run, before.laps, json);
}

inline void sqlite_report::insert(const char* table, const std::string& key, const detail::cell_row& row) {
    std::string sql = std::string("INSERT INTO ") + table + " VALUES(" + key;
    for (std::size_t i = 0; i < row.size(); ++i) sql += ",?";
    detail::sqlite_statement one(*file_, sql + ")");
    for (const detail::cell& each : row) each.value ? one << *each.value : one << nullptr;
    one.step();
}

inline void sqlite_report::write_json(std::int64_t run, std::int64_t lap, const std::string& json) {
    detail::sqlite_statement one(*file_, "INSERT OR REPLACE INTO json VALUES(?,?,?)");
    one << run << lap << json;
    one.step();
}

inline run_record read_sqlite(const std::string& path, std::int64_t run) {
    detail::sqlite_file file(path, detail::sqlite_file::use::read);
    file.wait_at_most(5000);
    detail::refuse_other_schemas(file);
    if (detail::number_in(file, "PRAGMA user_version") == 0) file.fail("has no runs");
    if (run == 0) run = detail::number_in(file, "SELECT max(run) FROM runs");
    detail::sqlite_statement head(
        file, "SELECT json, ended, num_failures FROM json JOIN runs USING(run) WHERE run = ? AND lap = -1");
    head << run;
    if (!head.step()) file.fail("has no run " + std::to_string(run));
    run_record all = weir::run_from_json(head.text(0));
    all.ended = head.number(1) != 0;
    all.num_failures = static_cast<std::uint64_t>(head.number(2));
    detail::sqlite_statement laps(file, "SELECT json FROM json WHERE run = ? AND lap >= 0 ORDER BY lap");
    laps << run;
    while (laps.step()) {
        detail::read_json(detail::json_reader(laps.text(0)).whole(), all.laps.emplace_back());
        if (!all.ended) all.total = all.laps.size() == 1 ? all.laps[0] : joined(all.total, all.laps.back());
    }
    detail::sqlite_statement failures(
        file, "SELECT stage, item, message, \"where\", lap FROM failures WHERE run = ? ORDER BY failure");
    failures << run;
    while (failures.step()) {
        all.failures.push_back({failures.text(0), static_cast<std::uint64_t>(failures.number(1)),
                                failures.text(2), failures.text(3),
                                static_cast<std::size_t>(failures.number(4))});
    }
    return all;
}

}  // namespace weir

#endif
