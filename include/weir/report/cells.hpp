// weir report, internal: the members of what was measured as a row of a table, a text or a number each
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_CELLS_HPP
#define WEIR_REPORT_CELLS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/fields.hpp>

#include <concepts>  // for std::integral
#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir::detail {

struct cell {
    std::string column;
    std::optional<std::string> value;  // none: it isn't known
    bool is_text = false;
};

using cell_row = std::vector<cell>;

inline void add_cells(cell_row& row, const std::string& column, const std::string& text) {
    row.push_back({column, text, true});
}
inline void add_cells(cell_row& row, const std::string& column, std::integral auto n) {
    row.push_back({column, std::to_string(n)});
}
// In nanoseconds.
inline void add_cells(cell_row& row, const std::string& column, duration d) {
    detail::add_cells(row, column, d.count());
}
// Places of other rows: `0 2`.
inline void add_cells(cell_row& row, const std::string& column, const std::vector<std::size_t>& places) {
    std::string text;
    for (const std::size_t each : places) text += (text.empty() ? "" : " ") + std::to_string(each);
    row.push_back({column, text, true});
}
// Its count and sum are members of what it belongs to.
inline void add_cells(cell_row& row, const std::string& column, const histogram& h) {
    const auto quantile = [&](const char* name, duration d) {
        detail::add_cells(row, column + name, d);
        if (!h.has_quantiles()) row.back().value.reset();
    };
    quantile("_p50", h.p50());
    quantile("_p90", h.p90());
    quantile("_p99", h.p99());
    detail::add_cells(row, column + "_max", (h.max)());
}
template <has_fields T>
void add_cells(cell_row& row, const std::string& column, const T& object);

// Of all slots, summed.
inline void add_cells(cell_row& row, const std::string& column, const std::vector<slot_times>& all) {
    slot_times sum;
    for (const slot_times& each : all) sum += each;
    detail::add_cells(row, column, sum);
}
template <class T>
void add_cells(cell_row& row, const std::string& column, const std::optional<T>& maybe) {
    const std::size_t first = row.size();
    detail::add_cells(row, column, maybe.value_or(T()));
    for (std::size_t i = first; !maybe && i < row.size(); ++i) row[i].value.reset();
}
// A member of a member is called `slots_run`.
template <has_fields T>
void add_cells(cell_row& row, const std::string& column, const T& object) {
    fields<T>::each(object, [&](const char* name, const auto& member) {
        detail::add_cells(row, column.empty() ? name : column + "_" + name, member);
    });
}

// Of a stage, a queue, the process. Which columns there are is the same for all of a type.
template <class T>
[[nodiscard]] cell_row cells_of(const T& object) {
    cell_row row;
    detail::add_cells(row, std::string(), object);
    return row;
}

// Of a whole lap, or run, what belongs to no stage and no queue.
[[nodiscard]] inline cell_row pace_cells(const pipeline_stats& lap) {
    cell_row row;
    detail::add_cells(row, "idle", lap.idle);
    detail::add_cells(row, "num_items", lap.num_items);
    detail::add_cells(row, "first_item", lap.first_item);
    return row;
}

}  // namespace weir::detail

#endif
