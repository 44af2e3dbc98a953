// weir report, internal: an SQLite database file for sqlite.hpp: statements, errors, and the tables of runs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_FILE_HPP
#define WEIR_REPORT_SQLITE_FILE_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/process.hpp>
#include <weir/report/csv.hpp>
#include <weir/report/run_record.hpp>

#include <sqlite3.h>  // for sqlite3_open_v2

#include <cstdint>       // for std::int64_t
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::generic_category
#include <utility>       // for std::move

namespace weir::detail {

class sqlite_statement;

// An open database.
// Errors:  `std::runtime_error` with the path and the message of SQLite: `run.sqlite: database or disk is
//          full`.
// Threads: one at a time. The destructor in a forked process does not close the database: SQLite forbids the
// use of a connection that another process opened.
class sqlite_file {
  public:
    enum class use : std::uint8_t { read, write };

    sqlite_file(std::string path, use how) : path_(std::move(path)) {
        const int flags =
            how == use::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        if (sqlite3_open_v2(path_.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
            try {
                fail();
            } catch (...) {
                sqlite3_close_v2(db_);
                throw;
            }
        }
        sqlite3_extended_result_codes(db_, 1);
    }
    sqlite_file(const sqlite_file&) = delete;
    sqlite_file& operator=(const sqlite_file&) = delete;
    ~sqlite_file() {
        if (process_.is_here()) sqlite3_close_v2(db_);
    }

    // Sets how long a statement waits while other connections have locked the file.
    void wait_at_most(std::int64_t milliseconds) {
        sqlite3_busy_timeout(db_, static_cast<int>(smaller<std::int64_t>(milliseconds, INT32_MAX)));
    }

    void run(const char* sql) {
        if (!run_unless_busy(sql)) fail();
    }
    // \returns false if other connections kept the file locked for longer than `wait_at_most`.
    [[nodiscard]] bool run_unless_busy(const char* sql) {
        const int result = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
        if (result != SQLITE_OK && (result & 0xFF) != SQLITE_BUSY) fail();
        return result == SQLITE_OK;
    }
    std::int64_t last_row() const noexcept { return sqlite3_last_insert_rowid(db_); }

    // Undoes a transaction that was not committed.
    void roll_back() noexcept {
        if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    }

    [[noreturn]] void fail() const { fail(db_ == nullptr ? "no memory for it" : sqlite3_errmsg(db_)); }
    [[noreturn]] void fail(const std::string& why) const {
        const int error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
        const bool known = db_ != nullptr && (sqlite3_errcode(db_) & 0xFF) == SQLITE_CANTOPEN && error != 0;
        throw std::runtime_error(path_ + ": " + why +
                                 (known ? ": " + std::generic_category().message(error) : std::string()));
    }

  private:
    friend sqlite_statement;

    const std::string path_;
    sqlite3* db_ = nullptr;
    const process_of_origin process_;
};

// A prepared statement. `<<` binds its parameters, in order.
class sqlite_statement {
  public:
    sqlite_statement(const sqlite_file& file, std::string_view sql) : file_(file) {
        const int size = static_cast<int>(sql.size());
        if (sqlite3_prepare_v2(file_.db_, sql.data(), size, &all_, nullptr) != SQLITE_OK) file_.fail();
    }
    sqlite_statement(const sqlite_statement&) = delete;
    sqlite_statement& operator=(const sqlite_statement&) = delete;
    ~sqlite_statement() { sqlite3_finalize(all_); }

    sqlite_statement& operator<<(std::string_view text) {
        const auto size = static_cast<sqlite3_uint64>(text.size());
        return bound(sqlite3_bind_text64(all_, ++bound_, text.data(), size, SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    sqlite_statement& operator<<(std::int64_t number) {
        return bound(sqlite3_bind_int64(all_, ++bound_, number));
    }
    sqlite_statement& operator<<(std::nullptr_t) { return bound(sqlite3_bind_null(all_, ++bound_)); }

    // Goes to the next row. Returns false behind the last row; then the statement can be bound and run again.
    bool step() {
        const int result = sqlite3_step(all_);
        if (result == SQLITE_ROW) return true;
        if (result != SQLITE_DONE) file_.fail();
        sqlite3_reset(all_);
        bound_ = 0;
        return false;
    }
    // The values of the row to which `step` went, by the column's index from 0.
    std::int64_t number(int column) const noexcept { return sqlite3_column_int64(all_, column); }
    std::string text(int column) const {
        const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(all_, column));
        if (begin == nullptr) return {};
        return std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(all_, column)));
    }

  private:
    sqlite_statement& bound(int result) {
        if (result != SQLITE_OK) file_.fail();
        return *this;
    }

    const sqlite_file& file_;
    sqlite3_stmt* all_ = nullptr;
    int bound_ = 0;
};

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
    cell_row row = pace_cells(lap);
    detail::add_cells(row, "process", lap.process);
    return row;
}

inline std::string sqlite_columns(const cell_row& row) {
    std::string text;
    for (const cell& each : row) text += ", \"" + each.column + "\"" + (each.is_text ? " TEXT" : " INTEGER");
    return text;
}

// Throws an error if another program made the file, or if the file has another version of the tables.
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
