// simulate: the exact figures of queues and pipes as JSON.
// All of them are whole numbers.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_COUNTS_HPP
#define WEIR_EXAMPLES_SIMULATE_COUNTS_HPP

#include <weir/measure/stats.hpp>

#include <nlohmann/json.hpp>

#include <vector>  // for std::vector

namespace simulate {

namespace detail {

inline nlohmann::ordered_json to_json(const weir::channel_stats& c) {
    return {{"name", c.name},
            {"num_put", c.num_put},
            {"num_get", c.num_get},
            {"num_discarded", c.num_discarded},
            {"size", c.size},
            {"put_wait_ns", c.put_wait.count()},
            {"put_blocked_ns", c.put_blocked.count()},
            {"get_blocked_ns", c.get_blocked.count()},
            {"empty_ns", c.empty.count()}};
}

// The figures of the pipes.
inline nlohmann::ordered_json to_json(const std::vector<weir::stage_stats>& stages) {
    auto all = nlohmann::ordered_json::array();
    for (const weir::stage_stats& s : stages) {
        if (s.kind != "pipe") continue;
        all.push_back({{"name", s.name},
                       {"num_tasks", s.num_tasks},
                       {"num_failures", s.num_failures},
                       {"busy_ns", s.busy.count()}});
    }
    return all;
}

// The figures of a part of a run, from one instant to another.
inline nlohmann::ordered_json part_to_json(const weir::pipeline_stats& stats) {
    nlohmann::ordered_json result;
    result["consumed"] = stats.num_items;
    result["queues"] = nlohmann::ordered_json::array();
    for (const weir::channel_stats& c : stats.channels) result["queues"].push_back(to_json(c));
    result["stages"] = to_json(stats.stages);
    return result;
}

}  // namespace detail

}  // namespace simulate

#endif
