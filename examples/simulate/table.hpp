// simulate: prints results as tables, a row for each queue.
// Figures of a document are in parentheses beside the measured ones.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_TABLE_HPP
#define WEIR_EXAMPLES_SIMULATE_TABLE_HPP

#include "figures.hpp"
#include "scenario.hpp"

#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <optional>   // for std::optional
#include <string>     // for std::string

namespace simulate {

/// Prints the table of the document: a row for each queue.
/// \param documented the figures of the document, printed beside the measured ones; null: there are none
[[nodiscard]] inline std::string to_table(const weir::pipeline_stats& stats, const scenario* documented) {
    using weir::units::fixed, weir::units::left, weir::units::right;
    const auto cell = [documented](double measured, std::optional<double> said) {
        std::string text = " " + right(fixed(measured, 3), 10);
        if (documented == nullptr) return text;
        std::string note;
        if (said) {
            note = fixed(*said, 1);
            if (note.ends_with(".0")) note.resize(note.size() - 2);
            note = "(" + note + ")";
        }
        return text + " " + left(note, 6);
    };
    const auto heading = [documented](const char* text) {
        return right(text, 11) + (documented == nullptr ? "" : "       ");
    };
    std::size_t width = 5;
    for (const weir::channel_stats& c : stats.channels) width = std::max(width, c.name.size());
    std::string table = "  " + left("queue", width) + heading("put ms") + heading("get ms") +
                        heading("occup. %") + heading("items/s");
    table.erase(table.find_last_not_of(' ') + 1);
    table += '\n';
    for (std::size_t i = 0; i < stats.channels.size(); ++i) {
        const weir::channel_stats& c = stats.channels[i];
        const queue_figures f(c);
        documented_queue said;
        std::optional<double> said_rate;
        if (documented != nullptr) {
            said = documented->queues.at(i);
            if (i + 1 == stats.channels.size()) said_rate = documented->documented_rate;
        }
        std::string row = "  " + left(c.name, width) + cell(f.put_ms, said.put_ms) +
                          cell(f.get_ms, said.get_ms) + cell(f.occupancy_percent, said.occupancy_percent) +
                          cell(c.rate(), said_rate);
        row.erase(row.find_last_not_of(' ') + 1);
        table += row + "\n";
    }
    return table;
}

}  // namespace simulate

#endif
