// weir report: a run's laps in an SQLite database, one row per stage and queue; and a run read from there
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_HPP
#define WEIR_REPORT_SQLITE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/csv.hpp>
#include <weir/report/json.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/sqlite_file.hpp>
#include <weir/report/structure.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <algorithm>  // for std::min
#include <chrono>     // for std::chrono::milliseconds
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <mutex>      // for std::lock_guard
#include <optional>   // for std::optional
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// Adds the statistics of each lap (a part of a run: see `run_options::lap`) to a database when the lap ends.
/// The program links SQLite (`-lsqlite3`). Tables, columns and queries: include/weir/report/README.md.
///
///     auto rows = std::make_shared<weir::sqlite_report>("runs.sqlite", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {rows}});
///
/// During a run SQLite keeps two more files beside the database, with the suffixes `-wal` and `-shm`.
///
/// Several processes may write to one database at the same time, and others may read it. A lap is one
/// transaction of a write-ahead log: if the process is killed, only the lap in progress is missing. SQLite
/// then moves the log into the database when a program next opens it.
///
/// If another connection has locked the file, the report waits for a tenth of a second. Then it keeps the lap
/// in memory, and writes the lap together with a later one, or at the end of the run, where it waits for
/// `patience`. It keeps at most 600 laps; later laps are joined with the last lap that is kept.
///
/// Errors:  if the database can't be written, the function set by `set_report_warning` is called, and the run
///          goes on without this report. So it does for a file of another program or schema, which is left
///          unchanged, and for a file that is still locked after `patience` at the end; then the message says
///          how many laps are missing.
/// Threads: a report is of one run at a time.
/// Cost:    about 30 us per row, on a thread of the run's executor.
class sqlite_report : public run_report {
  public:
    /// \param path     of the database, which is opened when a run begins.
    /// \param name     stored with each run of the report.
    /// \param made_of  `describe(pipeline)`.
    /// \param settings stored with each run of the report.
    /// \param patience how long the end of a run waits while another connection has locked the file.
    explicit sqlite_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                           std::vector<run_setting> settings = {},
                           duration patience = std::chrono::seconds(5))
        : path_(std::move(path)), patience_(patience),
          record_(detail::new_record(std::move(name), std::move(made_of), std::move(settings))) {}

    /// \returns the path.
    [[nodiscard]] std::string name() const override { return path_; }

    void begins(const pipeline_stats& all) override {
        file_.reset();
        file_.emplace(path_, detail::sqlite_file::use::write);
        file_->run("PRAGMA synchronous = NORMAL");
        record_.started = detail::utc_now();
        record_.ended = false;
        record_.total = all;
        written_ = {};
        pending_laps_.clear();
        pending_failures_.clear();
        {
            const std::lock_guard guard(lock_);
            record_.num_failures = 0;
            failures_.clear();
            laps_ = 0;
        }
        static_cast<void>(write(lap_patience()));
    }
    void lap(const pipeline_stats& one) override {
        record_.total.elapsed += one.elapsed;
        enqueue(one);
        static_cast<void>(write(lap_patience()));
    }
    void failed(const failure& what) override {
        const std::lock_guard guard(lock_);
        if (record_.num_failures++ >= most_failures) return;
        failures_.push_back({what.stage, what.item, what.message(), detail::place_text(what.where), laps_});
    }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        if (!detail::is_nothing(rest)) enqueue(rest);
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

  private:
    static constexpr std::int64_t head_lap = -1;  // stands for the whole run in the table `json`
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

    void enqueue(const pipeline_stats& one) {
        if (pending_laps_.size() >= most_pending) {
            pending_laps_.back() = joined(pending_laps_.back(), one);
            return;
        }
        pending_laps_.push_back(one);
        const std::lock_guard guard(lock_);
        ++laps_;
    }

    // Writes all queued laps in one transaction. Returns false if another connection has locked the file for
    // longer than `wait`; then the laps stay in the queue.
    bool write(duration wait) {
        file_->wait_at_most(wait / std::chrono::milliseconds(1));
        if (written_.run == 0) static_cast<void>(file_->run_unless_busy("PRAGMA journal_mode = WAL"));
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
        return true;
    }
    written insert_all() {
        written now = written_;
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
        const std::uint64_t failures = take_failures();
        for (const recorded_failure& each : pending_failures_) {
            insert("failures", std::to_string(now.run) + "," + std::to_string(now.failures++),
                   detail::cells_of(each));
        }
        detail::sqlite_statement run(
            *file_, "UPDATE runs SET ended = ?, elapsed = ?, num_failures = ? WHERE run = ?");
        run << std::int64_t{record_.ended} << record_.total.elapsed.count()
            << static_cast<std::int64_t>(failures) << now.run;
        run.step();
        if (written_.run == 0 || record_.ended) write_json(now.run, head_lap, weir::json_text(record_));
        return now;
    }
    void insert_lap(const written& before, const pipeline_stats& one) {
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
    // Moves new failures from `failures_` to `pending_failures_`. Returns the number of all failures so far.
    std::uint64_t take_failures() {
        const std::lock_guard guard(lock_);
        for (recorded_failure& each : failures_) pending_failures_.push_back(std::move(each));
        failures_.clear();
        return record_.num_failures;
    }

    void insert(const char* table, const std::string& key, const detail::cell_row& row) {
        std::string sql = std::string("INSERT INTO ") + table + " VALUES(" + key;
        for (std::size_t i = 0; i < row.size(); ++i) sql += ",?";
        detail::sqlite_statement one(*file_, sql + ")");
        detail::bind(one, row);
        one.step();
    }
    void write_json(std::int64_t run, std::int64_t lap, const std::string& json) {
        detail::sqlite_statement one(*file_, "INSERT OR REPLACE INTO json VALUES(?,?,?)");
        one << run << lap << json;
        one.step();
    }

    const std::string path_;
    const duration patience_;
    std::optional<detail::sqlite_file> file_;
    run_record record_;  // without laps and failures
    written written_;
    std::vector<pipeline_stats> pending_laps_;        // laps that are not written
    std::vector<recorded_failure> pending_failures_;  // taken from `failures_`, not written
    detail::spin_lock lock_;                          // guards `record_.num_failures` and the two below
    std::size_t laps_ = 0;                            // number of laps that have ended
    std::vector<recorded_failure> failures_;          // added by the threads on which items fail
};

/// \param run  its number in the table `runs`, from 1; 0: the newest.
/// \returns    the run with all its laps. If the run did not end, its total is the sum of these laps.
/// Errors:     `std::runtime_error`, with the path, if the file is no such database or has no such run; the
///             errors of `run_from_json`.
[[nodiscard]] inline run_record read_sqlite(const std::string& path, std::int64_t run = 0) {
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
