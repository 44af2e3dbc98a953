// weir report: a run's laps as CSV, one row per stage, queue and process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_CSV_HPP
#define WEIR_REPORT_CSV_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/fields.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/run_report.hpp>

#include <algorithm>  // for std::ranges::find
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <random>     // for std::random_device
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

namespace detail {

// The columns that every row has: those of stages, then further ones of queues, then of the process.
[[nodiscard]] inline const std::vector<std::string>& csv_columns() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        const auto add = [&names](const cell_row& row) {
            for (const cell& each : row) {
                if (std::ranges::find(names, each.column) == names.end()) names.push_back(each.column);
            }
        };
        add(detail::cells_of(stage_stats()));
        add(detail::cells_of(channel_stats()));
        add(detail::cells_of(process_stats()));
        return names;
    }();
    return all;
}

[[nodiscard]] inline std::string csv_head() {
    std::string line = "run,lap,lap_begin,lap_end";
    for (const cell& each : detail::pace_cells(pipeline_stats())) line += "," + each.column;
    line += ",row,place";
    for (const std::string& column : csv_columns()) line += "," + column;
    return line + ",rows_left\n";
}

}  // namespace detail

/// Appends each lap of a run to a CSV file when the lap ends. Its columns: include/weir/report/README.md.
///
///     auto csv = std::make_shared<weir::csv_report>("run.csv");
///     auto run = loader.start(pool, {.lap = 1s, .reports = {csv}});
///
/// A lap is one write. Rows are appended to a file that exists. If the process is killed, the last lap may be
/// missing or cut; the last row of a complete lap has `rows_left` 0. The next report that writes to the file
/// removes a cut lap.
///
/// Errors:  those of every `run_report`. A file with another first line is an error, and is left unchanged.
/// Threads: several processes may write to one file.
class csv_report : public run_report {
  public:
    /// \param path  of the file, which is opened when a run begins. A pipe or /dev/stdout is fine, too.
    explicit csv_report(std::string path) : path_(std::move(path)) {}

    /// \returns the path.
    [[nodiscard]] std::string name() const override { return path_; }
    void begins(const pipeline_stats&) override {
        run_ = detail::utc_now() + "-" + std::to_string(std::random_device()());
        laps_ = 0;
        begin_ = duration(0);
        file_.reset();
        file_.emplace(path_, detail::csv_head(), ",0\n");
    }
    void lap(const pipeline_stats& one) override {
        std::size_t left = one.stages.size() + one.channels.size() + (one.process ? 1 : 0);
        std::string begin = run_ + ',' + std::to_string(laps_++) + ',' + std::to_string(begin_.count());
        begin_ += one.elapsed;
        (begin += ',') += std::to_string(begin_.count());
        for (const detail::cell& each : detail::pace_cells(one)) (begin += ',') += each.value.value_or("");
        begin += ',';
        std::string text;
        const auto add = [&](const char* what, std::size_t place, const detail::cell_row& row) {
            (((text += begin) += what) += ',') += std::to_string(place);
            for (const std::string& column : detail::csv_columns()) {
                text += ',';
                const auto found = std::ranges::find(row, column, &detail::cell::column);
                if (found != row.end() && found->value) text += detail::csv_field(*found->value);
            }
            ((text += ',') += std::to_string(--left)) += '\n';
        };
        for (std::size_t i = 0; i < one.stages.size(); ++i) add("stage", i, detail::cells_of(one.stages[i]));
        for (std::size_t i = 0; i < one.channels.size(); ++i)
            add("queue", i, detail::cells_of(one.channels[i]));
        if (one.process) add("process", 0, detail::cells_of(*one.process));
        file_->write(text);
    }
    void ends(const pipeline_stats& rest, const pipeline_stats&) override {
        if (!detail::is_nothing(rest)) lap(rest);
        file_.reset();
    }

  private:
    const std::string path_;
    std::string run_;
    std::uint64_t laps_ = 0;
    duration begin_{};
    std::optional<detail::parts_file> file_;
};

}  // namespace weir

#endif
