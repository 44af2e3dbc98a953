// explain: prints how the slots of each stage spent their time, in percent.
// A state that no slot was in has no column.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_EXPLAIN_STATES_HPP
#define WEIR_EXAMPLES_EXPLAIN_STATES_HPP

#include <weir/insight/predict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/unit_text.hpp>

#include <algorithm>  // for std::max
#include <array>      // for std::array
#include <cstddef>    // for std::size_t
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace explain {

struct state_column {
    const char* name;
    weir::duration weir::slot_times::* time;
};

[[nodiscard]] inline std::vector<state_column> columns_of(const weir::prediction& run) {
    using weir::slot_times;
    constexpr std::array<state_column, 6> all{{{"run", &slot_times::run},
                                               {"await", &slot_times::await},
                                               {"runnable", &slot_times::runnable},
                                               {"wait_turn", &slot_times::wait_turn},
                                               {"wait_put", &slot_times::wait_put},
                                               {"wait_get", &slot_times::wait_get}}};
    std::vector<state_column> columns;
    for (const state_column& column : all) {
        weir::duration sum{};
        for (const weir::predicted_stage& each : run.stages) sum += each.times.*column.time;
        if (sum > weir::duration(0)) columns.push_back(column);
    }
    return columns;
}

/// \returns a row for each stage: the share of its slots' time in each state.
[[nodiscard]] inline std::string states_table(const weir::prediction& run) {
    using weir::units::left, weir::units::right, weir::units::whole_percent;
    constexpr std::size_t cell = 12;
    const std::vector<state_column> columns = columns_of(run);
    std::size_t width = 5;
    for (const weir::predicted_stage& each : run.stages) width = std::max(width, each.name.size());
    std::string table = "  " + left("stage", width);
    for (const state_column& column : columns) table += right(column.name, cell);
    for (const weir::predicted_stage& each : run.stages) {
        table += "\n  " + left(each.name, width);
        const double whole = static_cast<double>((each.times.total() - each.times.off).count());
        for (const state_column& column : columns) {
            const double share = static_cast<double>((each.times.*column.time).count());
            table += right(whole > 0 ? whole_percent(share / whole) + " %" : "", cell);
        }
    }
    return table + "\n";
}

}  // namespace explain

#endif
