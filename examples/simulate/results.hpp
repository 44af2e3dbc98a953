// simulate: results as JSON, in the format of the golden files.
// One result is one object.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_RESULTS_HPP
#define WEIR_EXAMPLES_SIMULATE_RESULTS_HPP

#include "counts.hpp"
#include "figures.hpp"
#include "measurement.hpp"
#include "spec.hpp"

#include <weir/measure/stats.hpp>

#include <nlohmann/json.hpp>

#include <map>      // for std::map
#include <string>   // for std::string
#include <utility>  // for std::move

namespace simulate {

/// One result, in the format of "expect" in the golden files: that of random_24.jsonl for a spec with
/// `snapshot_ns`; else that of documents_8.json, whose queues have the other figures besides.
[[nodiscard]] inline nlohmann::ordered_json to_json(const pipeline_spec& spec, const measurement& m) {
    using json = nlohmann::ordered_json;
    const weir::pipeline_stats& stats = m.stats;
    json result = json::object();
    if (!spec.name.empty()) result["name"] = spec.name;
    if (spec.snapshot_ns) {
        result.update(detail::part_to_json(stats));
    } else {
        result["sink_qps"] = stats.channels.back().rate();
        result["consumed"] = stats.num_items;
        result["window_ns"] = stats.elapsed.count();
        result["queues"] = json::object();
        std::map<std::string, int> same_name;
        for (const weir::channel_stats& c : stats.channels) {
            const queue_figures f(c);
            json queue{{"ave_put_ms", f.put_ms},
                       {"ave_get_ms", f.get_ms},
                       {"occupancy_percent", f.occupancy_percent}};
            queue.update(detail::to_json(c));
            const int nth = ++same_name[c.name];
            result["queues"][nth == 1 ? c.name : c.name + "#" + std::to_string(nth)] = std::move(queue);
        }
        result["stages"] = detail::to_json(stats.stages);
    }
    if (spec.snapshot_ns || ends(spec)) {
        result["first_item_ns"] = stats.first_item ? json(stats.first_item->after.count()) : json();
    }
    if (m.failed) result["failed"] = {{"stage", m.failed->stage}, {"item", m.failed->item}};
    if (spec.lap_ns) {
        result["laps"] = json::array();
        for (const weir::pipeline_stats& lap : m.laps) result["laps"].push_back(detail::part_to_json(lap));
    }
    return result;
}

}  // namespace simulate

#endif
