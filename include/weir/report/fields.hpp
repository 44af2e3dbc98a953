// weir report, internal: visits the members of statistics and records by name, for JSON, CSV and SQLite
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FIELDS_HPP
#define WEIR_REPORT_FIELDS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/stats_fields.hpp>
#include <weir/report/structure.hpp>

#include <concepts>  // for std::integral
#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir::detail {

// Each function calls `visit(name, member)` for each member. `like<T>`: the object is a T or const T.
// stats_fields.hpp has the functions for statistics.
void each_field(like<described_stage> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("kind", s.kind);
    visit("remark", s.remark);
    visit("takes", s.takes);
    visit("gives", s.gives);
    visit("concurrency", s.concurrency);
    visit("capacity", s.capacity);
    visit("max_bytes", s.max_bytes);
    visit("executor", s.executor);
    visit("output_order", s.output_order);
    visit("time_limit", s.time_limit);
    visit("epochs", s.epochs);
    visit("depth", s.depth);
    visit("where", s.where);
}

void each_field(like<described_edge> auto& s, auto&& visit) {
    visit("from", s.from);
    visit("to", s.to);
    visit("branch", s.branch);
}

void each_field(like<described_branch> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("depth", s.depth);
    visit("begin", s.begin);
    visit("end", s.end);
}

void each_field(like<pipeline_description> auto& s, auto&& visit) {
    visit("stages", s.stages);
    visit("edges", s.edges);
    visit("branches", s.branches);
}

void each_field(like<machine_info> auto& s, auto&& visit) {
    visit("host", s.host);
    visit("system", s.system);
    visit("processor", s.processor);
    visit("processors", s.processors);
    visit("memory", s.memory);
}

void each_field(like<build_info> auto& s, auto&& visit) {
    visit("weir", s.weir);
    visit("compiler", s.compiler);
    visit("library", s.library);
    visit("optimised", s.optimised);
    visit("assertions", s.assertions);
}

void each_field(like<run_setting> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("value", s.value);
}

void each_field(like<recorded_failure> auto& s, auto&& visit) {
    visit("stage", s.stage);
    visit("item", s.item);
    visit("message", s.message);
    visit("where", s.where);
    visit("lap", s.lap);
}

void each_field(like<run_record> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("started", s.started);
    visit("ended", s.ended);
    visit("machine", s.machine);
    visit("build", s.build);
    visit("settings", s.settings);
    visit("description", s.description);
    visit("total", s.total);
    visit("num_failures", s.num_failures);
    visit("failures", s.failures);
    visit("laps", s.laps);
    visit("ranks", s.ranks);
}

// A class that has a function `each_field`, above or in stats_fields.hpp.
template <class T>
concept has_fields = requires(T& object) { each_field(object, 0); };

// One cell of a row of CSV or SQLite.
struct cell {
    std::string column;
    std::optional<std::string> value;  // none: not known; the cell stays empty
    bool is_text = false;              // false: a number
};
using cell_row = std::vector<cell>;

// Appends to the row the cells that show the last argument. `column`: the cell's column; or, for several
// cells, the begin of their columns' names.
void add_cells(cell_row& row, const std::string& column, const std::string& text);
inline void add_cells(cell_row& row, const std::string& column, std::integral auto n) {
    row.push_back({column, std::to_string(n)});
}
// In nanoseconds.
void add_cells(cell_row& row, const std::string& column, duration d);
// All indices in one cell: `0 2`.
void add_cells(cell_row& row, const std::string& column, const std::vector<std::size_t>& places);
// Three percentiles and the maximum. Not the count and the sum: the statistics that contain the histogram
// have members for them.
void add_cells(cell_row& row, const std::string& column, const histogram& h);
// The cells of all members of the object. Their columns are named `column` and the member: `machine_host`.
template <has_fields T>
void add_cells(cell_row& row, const std::string& column, const T& object);

// No columns in CSV and SQLite: repeated calls, how a stage is set up, and what it awaits. JSON has them.
inline void add_cells(cell_row&, const std::string&, const std::optional<retry_stats>&) noexcept {}
inline void add_cells(cell_row&, const std::string&, const std::optional<stage_setup>&) noexcept {}
inline void add_cells(cell_row&, const std::string&, const std::optional<bool>&) noexcept {}
// No columns: a sample of invocations would need a row for each invocation.
inline void add_cells(cell_row&, const std::string&, const std::optional<task_samples>&) noexcept {}
// The times by state, summed over the slots of a stage.
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

// \returns the cells of the figures of the whole pipeline: idle time, items, the first item.
[[nodiscard]] cell_row pace_cells(const pipeline_stats& lap);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/fields.ipp>
#endif

#endif
