// simulate: results as JSON, in the format of the golden files.
// One result is one object.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_RESULTS_HPP
#define WEIR_EXAMPLES_SIMULATE_RESULTS_HPP

#include "figures.hpp"
#include "spec.hpp"

#include <weir/measure/stats.hpp>

#include <nlohmann/json.hpp>

#include <map>      // for std::map
#include <string>   // for std::string
#include <utility>  // for std::move

namespace simulate {

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

}  // namespace simulate

#endif
