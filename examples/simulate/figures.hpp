// simulate: the three figures of a queue that the documents use.
// They are computed from the library's figures without intermediate rounding.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_FIGURES_HPP
#define WEIR_EXAMPLES_SIMULATE_FIGURES_HPP

#include <weir/measure/stats.hpp>

namespace simulate {

/// The three figures of a queue in the documents.
struct queue_figures {
    double put_ms = 0;             // average wait of a put; c slots that wait at the same time count c times
    double get_ms = 0;             // time without an item for the next stage, per item
    double occupancy_percent = 0;  // share of the time with an item

    explicit queue_figures(const weir::channel_stats& c) : occupancy_percent(100 * c.readiness()) {
        // The averages of channel_stats are rounded to whole nanoseconds, so they are not used.
        if (c.num_put > 0)
            put_ms = static_cast<double>(c.put_wait.count()) / 1e6 / static_cast<double>(c.num_put);
        if (c.num_get > 0)
            get_ms = static_cast<double>(c.get_blocked.count()) / 1e6 / static_cast<double>(c.num_get);
    }
};

}  // namespace simulate

#endif
