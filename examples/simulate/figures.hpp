// simulate: the three figures of a queue that the documents look at.
// They are made of what the library measured, without a rounding on the way.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_FIGURES_HPP
#define WEIR_EXAMPLES_SIMULATE_FIGURES_HPP

#include <weir/measure/stats.hpp>

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

}  // namespace simulate

#endif
