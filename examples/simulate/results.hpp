// simulate: results as JSON, in the format of the golden files, and as tables for people.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_RESULTS_HPP
#define WEIR_EXAMPLES_SIMULATE_RESULTS_HPP

#include "documents.hpp"
#include "spec.hpp"

#include <weir/report/units.hpp>
#include <weir/stats.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <map>        // for std::map
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace simulate {

/// The three figures of a queue that the documents look at.
struct queue_figures {
    double put_ms = 0;             // the wait of a put; of c slots that wait at once, each counts
    double get_ms = 0;             // for how long the next stage had nothing to take, an item
    double occupancy_percent = 0;  // how often an item was there

    explicit queue_figures(const weir::channel_stats& c) : occupancy_percent(100 * c.readiness()) {
        // Not the averages of channel_stats: those are cut to whole nanoseconds.
        if (c.num_put > 0)
            put_ms = static_cast<double>(c.put_wait.count()) / 1e6 / static_cast<double>(c.num_put);
        if (c.num_get > 0)
            get_ms = static_cast<double>(c.get_blocked.count()) / 1e6 / static_cast<double>(c.num_get);
    }
};

/// One result, in the format of "expect" in the golden files: that of random_24.jsonl for a spec with
/// `snapshot_ns`; else that of documents_8.json, whose queues have the other figures besides.
[[nodiscard]] inline nlohmann::ordered_json to_json(const pipeline_spec& spec,
                                                    const weir::pipeline_stats& stats) {
    using json = nlohmann::ordered_json;
    const auto counts = [](const weir::channel_stats& c) {
        return json{{"name", c.name},
                    {"num_put", c.num_put},
                    {"num_get", c.num_get},
                    {"size", c.size},
                    {"put_wait_ns", c.put_wait.count()},
                    {"put_blocked_ns", c.put_blocked.count()},
                    {"get_blocked_ns", c.get_blocked.count()},
                    {"empty_ns", c.empty.count()}};
    };
    json result = json::object();
    if (!spec.name.empty()) result["name"] = spec.name;
    if (spec.snapshot_ns) {
        result["consumed"] = stats.channels.back().num_get;
        result["queues"] = json::array();
        for (const weir::channel_stats& c : stats.channels) result["queues"].push_back(counts(c));
    } else {
        result["sink_qps"] = stats.channels.back().rate();
        result["consumed"] = stats.channels.back().num_get;
        result["window_ns"] = stats.elapsed.count();
        result["queues"] = json::object();
        std::map<std::string, int> same_name;
        for (const weir::channel_stats& c : stats.channels) {
            const queue_figures f(c);
            json queue{{"ave_put_ms", f.put_ms},
                       {"ave_get_ms", f.get_ms},
                       {"occupancy_percent", f.occupancy_percent}};
            queue.update(counts(c));
            const int nth = ++same_name[c.name];
            result["queues"][nth == 1 ? c.name : c.name + "#" + std::to_string(nth)] = std::move(queue);
        }
    }
    result["stages"] = json::array();
    for (const weir::stage_stats& s : stats.stages) {
        if (s.kind != "pipe") continue;
        result["stages"].push_back(
            {{"name", s.name}, {"num_tasks", s.num_tasks}, {"busy_ns", s.busy.count()}});
    }
    return result;
}

/// The document's table: a row for each queue.
/// \param documented what it says, next to what was measured; null: nothing to compare with
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
