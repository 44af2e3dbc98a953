// weir report: a run's laps in an SQLite database, one row per stage and queue; and a run read from there
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_HPP
#define WEIR_REPORT_SQLITE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/process.hpp>
#include <weir/report/csv.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <sqlite3.h>  // for sqlite3_open_v2

#include <algorithm>     // for std::min
#include <chrono>        // for std::chrono::milliseconds
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::int64_t, std::uint64_t
#include <mutex>         // for std::lock_guard
#include <optional>      // for std::optional
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::generic_category
#include <utility>       // for std::move
#include <vector>        // for std::vector

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
        // With an empty path, SQLite would use a temporary file, and remove the file at the end.
        if (path_.empty()) throw std::runtime_error("weir: the path of a database of runs is empty");
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
        if (sqlite3_prepare_v2(file_.db_, sql.data(), size, &statement_, nullptr) != SQLITE_OK) file_.fail();
    }
    sqlite_statement(const sqlite_statement&) = delete;
    sqlite_statement& operator=(const sqlite_statement&) = delete;
    ~sqlite_statement() { sqlite3_finalize(statement_); }

    sqlite_statement& operator<<(std::string_view text) {
        const auto size = static_cast<sqlite3_uint64>(text.size());
        return bound(
            sqlite3_bind_text64(statement_, ++bound_, text.data(), size, SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    sqlite_statement& operator<<(std::int64_t number) {
        return bound(sqlite3_bind_int64(statement_, ++bound_, number));
    }
    sqlite_statement& operator<<(std::nullptr_t) { return bound(sqlite3_bind_null(statement_, ++bound_)); }

    // Goes to the next row. Returns false behind the last row; then the statement can be bound and run again.
    bool step() {
        const int result = sqlite3_step(statement_);
        if (result == SQLITE_ROW) return true;
        if (result != SQLITE_DONE) file_.fail();
        sqlite3_reset(statement_);
        bound_ = 0;
        return false;
    }
    // The values of the row to which `step` went, by the column's index from 0.
    std::int64_t number(int column) const noexcept { return sqlite3_column_int64(statement_, column); }
    std::string text(int column) const {
        const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        if (begin == nullptr) return {};
        return std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }

  private:
    sqlite_statement& bound(int result) {
        if (result != SQLITE_OK) file_.fail();
        return *this;
    }

    const sqlite_file& file_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

}  // namespace weir::detail

namespace weir {

/// Adds the statistics of each lap (a part of a run: see `run_options::lap`) to a database when the lap ends.
/// The program links SQLite (`-lsqlite3`). Tables, columns and queries: include/weir/report/README.md.
///
///     auto rows = std::make_shared<weir::sqlite_report>("runs.sqlite", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {rows}});
///
/// During a run SQLite keeps two more files beside the database, with the suffixes `-wal` and `-shm`.
///
/// Several processes may write to one database at the same time, and others may read the database. The report
/// writes a lap in one transaction of a write-ahead log. If the process is killed, only the lap in progress,
/// and laps that are kept in memory, are missing. SQLite then moves the log into the database when a program
/// next opens the database.
///
/// If another connection has locked the file, the report waits for a tenth of a second, or for `patience` if
/// that is shorter. Then the report keeps the lap in memory, and writes the lap together with a later one. At
/// the end of the run, the report waits for `patience`. At most 600 laps are kept; later laps are joined with
/// the last lap that is kept: this lap is longer than others, as its columns `lap_begin` and `lap_end` say.
///
/// Errors:  if the database can't be written, the function set by `set_report_warning` is called, and the run
///          goes on without this report. The same happens for a file of another program or schema, which
///          is left unchanged; and for a file that is still locked after `patience` at the end. The
///          message then says how many laps are missing.
/// Threads: a report is of one run at a time.
/// Cost:    about 30 us per row, on a thread of the run's executor.
class sqlite_report : public run_report {
  public:
    /// \param path     of the database, which is opened when a run begins.
    /// \param name     stored with each run of the report.
    /// \param made_of  the pipeline's structure, stored with each run: `describe(pipeline)`.
    /// \param settings stored with each run of the report.
    /// \param patience how long the end of a run waits while another connection has locked the file.
    explicit sqlite_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                           std::vector<run_setting> settings = {},
                           duration patience = std::chrono::seconds(5))
        : path_(std::move(path)), patience_(patience),
          record_(detail::new_record(std::move(name), std::move(made_of), std::move(settings))) {}

    /// \returns the path.
    [[nodiscard]] std::string name() const override { return path_; }

    inline void begins(const pipeline_stats& all) override;
    void lap(const pipeline_stats& one) override {
        record_.total.elapsed += one.elapsed;
        enqueue(one);
        static_cast<void>(write(lap_patience()));
        const std::lock_guard guard(lock_);
        is_joining_ = pending_laps_.size() >= most_pending;
    }
    void failed(const failure& what) override {
        // Before the lock, because `message` may call a function of the user: `std::exception::what`.
        recorded_failure one{what.stage, what.item, what.message(), detail::place_text(what.where)};
        const std::lock_guard guard(lock_);
        if (num_failures_++ >= most_failures) return;
        one.lap = is_joining_ ? laps_ - 1 : laps_;
        failures_.push_back(std::move(one));
    }
    inline void ends(const pipeline_stats& rest, const pipeline_stats& all) override;

  private:
    void ended_by(run_outcome how, const std::string& stage) override {
        record_.outcome = detail::outcome_text(how, stage);
    }

    static constexpr std::int64_t head_lap = -1;  // the lap number of the whole run in the table `json`
    static constexpr std::uint64_t most_failures = 100;
    static constexpr std::size_t most_pending = 600;

    // How much of the run is in the file.
    struct written {
        std::int64_t run = 0;  // the run's number; 0: nothing is written
        std::int64_t laps = 0;
        std::int64_t failures = 0;
        duration until{};  // the end of the last written lap, since the start of the run
    };

    duration lap_patience() const { return (std::min<duration>)(patience_, std::chrono::milliseconds(100)); }

    void enqueue(const pipeline_stats& one);

    // Writes all queued laps and failures in one transaction. Returns false if another connection has locked
    // the file for longer than `wait`, which is the limit of each of up to three statements. Errors: those of
    // `sqlite_file`. After false or an error, the laps and failures stay in their queues.
    bool write(duration wait);
    written insert_all();
    void insert_lap(const written& before, const pipeline_stats& one);
    // Moves new failures from `failures_` to `pending_failures_`. Returns the number of all failures so far.
    std::uint64_t take_failures() {
        const std::lock_guard guard(lock_);
        for (recorded_failure& each : failures_) pending_failures_.push_back(std::move(each));
        failures_.clear();
        return num_failures_;
    }

    void insert(const char* table, const std::string& key, const detail::cell_row& row);
    void write_json(std::int64_t run, std::int64_t lap, const std::string& json);

    const std::string path_;
    const duration patience_;
    std::optional<detail::sqlite_file> file_;
    run_record record_;  // without laps and failures
    written written_;
    std::vector<pipeline_stats> pending_laps_;        // laps that are not written
    std::vector<recorded_failure> pending_failures_;  // taken from `failures_`, not written
    detail::spin_lock lock_;                          // guards the members below
    std::uint64_t num_failures_ = 0;                  // insert_all() copies it to `record_`
    std::size_t laps_ = 0;                            // number of laps that have ended; joined laps are one
    bool is_joining_ = false;                         // the next lap is joined with the last one
    std::vector<recorded_failure> failures_;          // added by the threads on which items fail
};

/// \param run  the number of the run in the table `runs`, from 1; 0: the newest run.
/// \returns    the run with all laps that are in the file. If the run did not end, its total is their sum.
/// Cost:       30 KiB of memory per lap for each stage and its queue.
/// Errors:     `std::runtime_error`: with the path, if the file is no such database or has no such run;
///             without it, if a row of the run is not what `sqlite_report` wrote.
[[nodiscard]] run_record read_sqlite(const std::string& path, std::int64_t run = 0);

}  // namespace weir

#include <weir/report/sqlite.ipp>

#endif
