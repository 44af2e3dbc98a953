// weir report: a run's laps in a database of SQLite, a row for each stage and queue, and a run out of it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_HPP
#define WEIR_REPORT_SQLITE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/source_place.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/cells.hpp>
#include <weir/report/json.hpp>
#include <weir/report/laps.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/sqlite_file.hpp>
#include <weir/report/sqlite_schema.hpp>
#include <weir/report/structure.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <mutex>     // for std::lock_guard
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir {

/// Adds each lap of a run to a database, when it has ended; the program links SQLite (`-lsqlite3`). Tables,
/// columns and queries: .github/REPORTS.md.
///
///     auto rows = std::make_shared<weir::sqlite_report>("runs.sqlite", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {rows}});
///
/// While a run is written two more files lie beside it, `-wal` and `-shm`, which belong to it.
///
/// Runs of several processes, at the same time, too, may go to one file, which others read meanwhile. A lap
/// is one transaction of a write-ahead log: of a process that is killed the lap in progress is missing, and
/// nothing else; what it leaves beside the file is taken in by whoever opens that next.
///
/// Errors:  as of every `run_report`; one is a file that is something else, or of a later version, which is
///          left as it is, and one that others lock for five seconds.
/// Threads: as every `run_report`.
/// Cost:    some 30 us for each row, on a thread of the run's executor.
class sqlite_report : public run_report {
  public:
    /// \param path     opened when a run begins.
    /// \param name     what the runs are called.
    /// \param made_of  `describe(pipeline)`.
    /// \param settings what the program says of its runs.
    explicit sqlite_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                           std::vector<run_setting> settings = {})
        : path_(std::move(path)) {
        head_.name = std::move(name);
        head_.description = std::move(made_of);
        head_.settings = std::move(settings);
        head_.machine = weir::this_machine();
        head_.build = weir::this_build();
    }

    /// \returns the path.
    [[nodiscard]] std::string name() const override { return path_; }

    void begins(const pipeline_stats& all) override {
        file_.reset();
        file_.emplace(path_, detail::sqlite_file::use::write);
        file_->wait_at_most(5000);
        static_cast<void>(file_->run_unless_busy("PRAGMA journal_mode = WAL"));
        file_->run("PRAGMA synchronous = NORMAL");
        head_.started = detail::utc_now();
        head_.ended = false;
        head_.total = all;
        begin_ = duration(0);
        failures_written_ = 0;
        {
            const std::lock_guard guard(lock_);
            head_.num_failures = 0;
            failures_.clear();
            laps_ = 0;
        }
        in_transaction([this] {
            detail::make_tables(*file_);
            insert("runs", "NULL", detail::head_cells(head_));
            run_ = file_->last_row();
            write_json(head_lap, weir::json_text(head_));
        });
    }
    void lap(const pipeline_stats& one) override {
        in_transaction([&] {
            const std::string key = std::to_string(run_) + "," + std::to_string(laps_);
            const std::string times = key + "," + std::to_string(begin_.count()) + "," +
                                      std::to_string((begin_ + one.elapsed).count());
            insert("laps", times, detail::lap_cells(one.process));
            for (std::size_t i = 0; i < one.stages.size(); ++i)
                insert("stages", times + "," + std::to_string(i), detail::cells_of(one.stages[i]));
            for (std::size_t i = 0; i < one.channels.size(); ++i)
                insert("queues", times + "," + std::to_string(i), detail::cells_of(one.channels[i]));
            std::string json;
            detail::append_json(json, one);
            write_json(static_cast<std::int64_t>(laps_), json);
            head_.total.elapsed = begin_ + one.elapsed;
            write_failures();
            update_run();
        });
        begin_ += one.elapsed;
        const std::lock_guard guard(lock_);
        ++laps_;
    }
    void failed(const failure& what) override {
        const std::lock_guard guard(lock_);
        if (head_.num_failures++ >= most_failures) return;
        failures_.push_back({what.stage, what.item, what.message(), detail::place_text(what.where), laps_});
    }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        if (!detail::is_nothing(rest)) lap(rest);
        head_.total = all;
        head_.ended = true;
        in_transaction([this] {
            write_failures();
            update_run();
            write_json(head_lap, weir::json_text(head_));
        });
        // All of it into the one file, unless others still use it.
        file_->wait_at_most(0);
        static_cast<void>(file_->run_unless_busy("PRAGMA journal_mode = DELETE"));
        file_.reset();
    }

  private:
    static constexpr std::int64_t head_lap = -1;  // of the record without its laps
    static constexpr std::uint64_t most_failures = 100;

    template <class Work>
    void in_transaction(Work work) {
        file_->run("BEGIN IMMEDIATE");
        try {
            work();
            file_->run("COMMIT");
        } catch (...) {
            file_->roll_back();
            throw;
        }
    }
    void insert(const char* table, const std::string& key, const detail::cell_row& row) {
        std::string sql = std::string("INSERT INTO ") + table + " VALUES(" + key;
        for (std::size_t i = 0; i < row.size(); ++i) sql += ",?";
        detail::sqlite_statement one(*file_, sql + ")");
        detail::bind(one, row);
        one.step();
    }
    void write_json(std::int64_t lap, const std::string& json) {
        detail::sqlite_statement one(*file_, "INSERT OR REPLACE INTO json VALUES(?,?,?)");
        one << run_ << lap << json;
        one.step();
    }
    void write_failures() {
        std::vector<recorded_failure> some;
        {
            const std::lock_guard guard(lock_);
            some.swap(failures_);
        }
        for (const recorded_failure& each : some) {
            insert("failures", std::to_string(run_) + "," + std::to_string(failures_written_++),
                   detail::cells_of(each));
        }
    }
    void update_run() {
        std::uint64_t failures = 0;
        {
            const std::lock_guard guard(lock_);
            failures = head_.num_failures;
        }
        detail::sqlite_statement one(
            *file_, "UPDATE runs SET ended = ?, elapsed = ?, num_failures = ? WHERE run = ?");
        one << std::int64_t{head_.ended} << head_.total.elapsed.count() << static_cast<std::int64_t>(failures)
            << run_;
        one.step();
    }

    const std::string path_;
    std::optional<detail::sqlite_file> file_;
    run_record head_;  // without laps and failures; `num_failures` under the lock
    std::int64_t run_ = 0;
    std::size_t laps_ = 0;  // changed under the lock
    duration begin_{};
    std::uint64_t failures_written_ = 0;
    detail::spin_lock lock_;
    std::vector<recorded_failure> failures_;  // that are not written yet
};

/// \param run  its number in the table `runs`, from 1; 0: the newest.
/// \returns    the run, as a `run_recorder` that keeps all laps has it; of one that never ended the laps that
///             are there, and their sum as its whole.
/// Errors:     `std::runtime_error`, with the path, for what is no such database or has no such run; those of
///             `run_from_json`.
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
