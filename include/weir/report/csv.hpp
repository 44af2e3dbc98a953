// weir report: a run's laps as CSV, one row per stage, queue and process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_CSV_HPP
#define WEIR_REPORT_CSV_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/run/run_report.hpp>

#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move

namespace weir {

/// Appends the statistics of each lap (a part of a run: see `run_options::lap`) to a CSV file when the lap
/// ends. The columns: include/weir/report/README.md.
///
///     auto csv = std::make_shared<weir::csv_report>("run.csv");
///     auto run = loader.start(pool, {.lap = 1s, .reports = {csv}});
///
/// A lap is one write. Rows are appended to a file that exists. If the process is killed, the last lap may be
/// missing or cut; the last row of a complete lap has `rows_left` 0. The next report that writes to the file
/// removes a cut lap.
///
/// Errors:  if the file can't be written, or has another first line (then it is left unchanged), the function
///          set by `set_report_warning` is called, and the run goes on without this report.
/// Threads: several processes may write to one file.
class csv_report : public run_report {
  public:
    /// \param path  of the file, which is opened when a run begins. A pipe or /dev/stdout is fine, too.
    explicit csv_report(std::string path) : path_(std::move(path)) {}

    /// \returns the path.
    [[nodiscard]] std::string name() const override { return path_; }
    void begins(const pipeline_stats&) override;
    void lap(const pipeline_stats& one) override;
    void ends(const pipeline_stats& rest, const pipeline_stats&) override;

  private:
    const std::string path_;
    std::string run_;         // identifies the run in its rows: the time of its begin, and a random number
    std::uint64_t laps_ = 0;  // laps written
    duration begin_{};        // of the next lap, since the start of the run
    std::optional<detail::parts_file> file_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/csv.ipp>
#endif

#endif
