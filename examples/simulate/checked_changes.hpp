// simulate: checks that changes fit a pipeline.
// A mistake names the change.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_CHECKED_CHANGES_HPP
#define WEIR_EXAMPLES_SIMULATE_CHECKED_CHANGES_HPP

#include "changes.hpp"
#include "numbers.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/measure/clock.hpp>

#include <cstddef>    // for std::size_t
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string, std::to_string
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

// A message of the library, without the prefix that names it.
inline std::string without_prefix(const std::string& message) {
    return message.starts_with("weir: ") ? message.substr(6) : message;
}

// A prediction multiplies the times of a stage. A consumer without time gets one that is multiplied by 0 today.
inline void give_consumer_time(weir::recording& from) {
    weir::recorded_stage& consumer = from.stages.back();
    for (const weir::recorded_task& each : consumer.tasks) {
        if (each.run + each.await > weir::duration(0)) return;
    }
    consumer = {.tasks = {{weir::duration(0), weir::duration(1'000'000), 1}},
                .num_tasks = 1,
                .in_sequence = true};
    from.settings.stages.back().time_factor = 0;
}

// Completes the changes.
inline void check_changes(std::vector<change>& changes, weir::recording& from, bool is_stored) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
        weir::setting_change& what = changes[i].what;
        const std::string path = "changes[" + std::to_string(i) + "]";
        if (what.kind == weir::change_kind::consumer) give_consumer_time(from);
        if (what.kind == weir::change_kind::threads) {
            what.pool = from.settings.pools.size() - 1;
            if (!is_stored && from.settings.pools[what.pool] == 0) {
                throw mistake{path + ".workers", "this pipeline has no 'workers' to change"};
            }
        }
        if (what.kind == weir::change_kind::capacity && what.stage == from.settings.stages.back().name) {
            throw mistake{path + ".stage", "no queue is behind the consumer"};
        }
        bool is_found = what.stage.empty();
        try {
            if (!is_found) static_cast<void>(from.settings.stage(what.stage));
            is_found = true;
            static_cast<void>(weir::with_change(from.settings, what, from));
        } catch (const std::invalid_argument& e) {
            throw mistake{path + (is_found ? "" : ".stage"), without_prefix(e.what())};
        }
    }
}

}  // namespace detail

}  // namespace simulate

#endif
