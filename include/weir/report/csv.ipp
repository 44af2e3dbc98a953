// weir report, internal: bodies of the functions of report/csv.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_CSV_IPP
#define WEIR_REPORT_CSV_IPP

#include <weir/report/csv.hpp>

#include <weir/measure/process_stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/run_record.hpp>

#include <algorithm>  // for std::ranges::find
#include <random>     // for std::random_device

namespace weir::detail {

WEIR_INLINE void add_cells(cell_row& row, const std::string& column, const std::vector<std::size_t>& places) {
    std::string text;
    for (const std::size_t each : places) text += (text.empty() ? "" : " ") + std::to_string(each);
    detail::add_cells(row, column, text);
}

WEIR_INLINE void add_cells(cell_row& row, const std::string& column, const histogram& h) {
    const auto quantile = [&](const char* name, duration d) {
        detail::add_cells(row, column + name, d);
        if (!h.has_quantiles()) row.back().value.reset();
    };
    quantile("_p50", h.p50());
    quantile("_p90", h.p90());
    quantile("_p99", h.p99());
    detail::add_cells(row, column + "_max", (h.max)());
}

WEIR_INLINE void add_cells(cell_row& row, const std::string& column, const std::vector<slot_times>& all) {
    slot_times sum;
    for (const slot_times& each : all) sum += each;
    detail::add_cells(row, column, sum);
}

WEIR_INLINE cell_row pipeline_cells(const pipeline_stats& lap) {
    cell_row row;
    detail::add_cells(row, "idle", lap.idle);
    detail::add_cells(row, "num_items", lap.num_items);
    detail::add_cells(row, "first_item", lap.first_item);
    return row;
}

// \returns the columns between `place` and `rows_left`, the same in every row: the members of stages, then
//          further members of queues, then of the process. A cell is empty if the row's object has no such
//          member.
inline const std::vector<std::string>& csv_columns() {
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

inline std::string csv_head() {
    std::string line = "run,lap,lap_begin,lap_end";
    for (const cell& each : detail::pipeline_cells(pipeline_stats())) line += "," + each.column;
    line += ",row,place";
    for (const std::string& column : csv_columns()) line += "," + column;
    return line + ",rows_left\n";
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE void csv_report::begins(const pipeline_stats&) {
    run_ = detail::utc_now() + "-" + std::to_string(std::random_device()());
    laps_ = 0;
    begin_ = duration(0);
    file_.reset();
    file_.emplace(path_, detail::csv_head(), ",0\n");
}

WEIR_INLINE void csv_report::lap(const pipeline_stats& one) {
    std::size_t left = one.stages.size() + one.channels.size() + (one.process ? 1 : 0);
    std::string begin = run_ + ',' + std::to_string(laps_++) + ',' + std::to_string(begin_.count());
    begin_ += one.elapsed;
    (begin += ',') += std::to_string(begin_.count());
    for (const detail::cell& each : detail::pipeline_cells(one)) (begin += ',') += each.value.value_or("");
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
    for (std::size_t i = 0; i < one.channels.size(); ++i) add("queue", i, detail::cells_of(one.channels[i]));
    if (one.process) add("process", 0, detail::cells_of(*one.process));
    file_->write(text);
}

WEIR_INLINE void csv_report::ends(const pipeline_stats& rest, const pipeline_stats&) {
    if (!detail::is_empty_lap(rest)) lap(rest);
    file_.reset();
}

}  // namespace weir

#endif
