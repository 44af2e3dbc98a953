// weir report: a run's laps as CSV, one row per stage, queue and process; the cells of rows, also for SQLite
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_CSV_HPP
#define WEIR_REPORT_CSV_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/fields.hpp>
#include <weir/run/run_report.hpp>

#include <concepts>  // for std::integral
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir {

/// Appends the statistics of each lap (a part of a run: see `run_options::lap`) to a CSV file when the lap
/// ends. The columns: include/weir/report/README.md.
///
///     auto csv = std::make_shared<weir::csv_report>("run.csv");
///     auto run = loader.start(pool, {.lap = 1s, .reports = {csv}});
///
/// A lap is one write. If the file exists, its rows stay, and the report appends to them. If the process is
/// killed, the last lap may be missing or cut; the last row of a complete lap has `rows_left` 0. The next
/// report that writes to the file removes a cut lap.
///
/// Errors:  if the file can't be written, the function set by `set_report_warning` is called, and the run
///          goes on without this report. The same if the first line of the file isn't the names of the
///          columns: then the file stays unchanged.
/// Threads: several processes may write to one file.
class csv_report : public run_report {
  public:
    /// \param path  of the file, which is opened when a run begins. A pipe is fine, too; so is /dev/stdout if
    ///              the program prints nothing else to it: in a file, a report cuts off what is no row.
    explicit csv_report(std::string path) : path_(std::move(path)) {}

    /// \returns the path.
    [[nodiscard]] std::string name() const override { return path_; }
    WEIR_INLINE void begins(const pipeline_stats&) override;
    WEIR_INLINE void lap(const pipeline_stats& one) override;
    WEIR_INLINE void ends(const pipeline_stats& rest, const pipeline_stats&) override;

  private:
    const std::string path_;
    std::string run_;         // identifies the run in its rows: when it began, and a random number
    std::uint64_t laps_ = 0;  // laps written
    duration begin_{};        // when the next lap begins, since the start of the run
    std::optional<detail::parts_file> file_;
};

}  // namespace weir

namespace weir::detail {

// One cell of a row of CSV or SQLite.
struct cell {
    std::string column;
    std::optional<std::string> value;  // none: the value is unknown, and the cell stays empty
    bool is_text = false;              // false: a number
};
using cell_row = std::vector<cell>;

// Appends to the row the cells that show the last argument. `column`: the cell's column; or, for several
// cells, the beginning of their columns' names.
inline void add_cells(cell_row& row, const std::string& column, const std::string& text) {
    row.push_back({column, text, true});
}
inline void add_cells(cell_row& row, const std::string& column, std::integral auto n) {
    row.push_back({column, std::to_string(n)});
}
// Appends one cell: the duration in nanoseconds.
inline void add_cells(cell_row& row, const std::string& column, duration d) {
    detail::add_cells(row, column, d.count());
}
// Appends one cell with all indices (those of a stage's input or output queues): `0 2`.
void add_cells(cell_row& row, const std::string& column, const std::vector<std::size_t>& places);
// Appends the 50th, 90th and 99th percentile, empty if unknown, and the maximum. The count and the sum are
// other members of the same statistics, and have cells of their own.
void add_cells(cell_row& row, const std::string& column, const histogram& h);
// Appends the cells of all members of the object. Their columns are named `column` and the member:
// `machine_host`; with an empty `column`, as the member.
template <has_fields T>
void add_cells(cell_row& row, const std::string& column, const T& object);

// Append nothing: JSON has these members of `stage_stats`, CSV and SQLite do not. They are the failed calls
// of the stage's function that were repeated, how the stage was started, and whether a source reads a
// channel.
inline void add_cells(cell_row&, const std::string&, const std::optional<retry_stats>&) noexcept {}
inline void add_cells(cell_row&, const std::string&, const std::optional<stage_setup>&) noexcept {}
inline void add_cells(cell_row&, const std::string&, const std::optional<bool>&) noexcept {}
// Appends nothing: a sample of the invocations of a stage would need a row for each invocation.
inline void add_cells(cell_row&, const std::string&, const std::optional<task_samples>&) noexcept {}
// Appends the times by state, summed over the slots (the workers) of a stage.
void add_cells(cell_row& row, const std::string& column, const std::vector<slot_times>& all);
template <class T>
void add_cells(cell_row& row, const std::string& column, const std::optional<T>& maybe) {
    const std::size_t first = row.size();
    detail::add_cells(row, column, maybe.value_or(T()));
    for (std::size_t i = first; !maybe && i < row.size(); ++i) row[i].value.reset();
}
template <has_fields T>
void add_cells(cell_row& row, const std::string& column, const T& object) {
    each_field(object, [&](const char* name, const auto& member) {
        detail::add_cells(row, column.empty() ? name : column + "_" + name, member);
    });
}

// \returns the row of a stage, a queue, the process or a failure. All objects of a type have the same
//          columns.
template <class T>
[[nodiscard]] cell_row cells_of(const T& object) {
    cell_row row;
    detail::add_cells(row, std::string(), object);
    return row;
}

// \returns the cells for a lap of the whole pipeline: for how long nothing has moved, the number of items
//          that the consumer (which takes the results) got, and the members of `first_item_stats`.
[[nodiscard]] cell_row pipeline_cells(const pipeline_stats& lap);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/csv.ipp>
#endif

#endif
