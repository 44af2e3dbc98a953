// weir report, internal: bodies of the functions of report/fields.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FIELDS_IPP
#define WEIR_REPORT_FIELDS_IPP

#include <weir/report/fields.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

WEIR_INLINE void add_cells(cell_row& row, const std::string& column, const std::string& text) {
    row.push_back({column, text, true});
}

WEIR_INLINE void add_cells(cell_row& row, const std::string& column, duration d) {
    detail::add_cells(row, column, d.count());
}

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

WEIR_INLINE cell_row pace_cells(const pipeline_stats& lap) {
    cell_row row;
    detail::add_cells(row, "idle", lap.idle);
    detail::add_cells(row, "num_items", lap.num_items);
    detail::add_cells(row, "first_item", lap.first_item);
    return row;
}

}  // namespace weir::detail

#endif
