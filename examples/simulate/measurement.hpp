// simulate: what was measured of a pipeline.
// The statistics of a window of time, and what is known of the window.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_MEASUREMENT_HPP
#define WEIR_EXAMPLES_SIMULATE_MEASUREMENT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

namespace simulate {

/// What was measured: the statistics of a window of time.
struct measurement {
    weir::pipeline_stats stats;
    /// True if the window is a whole number of periods of a steady state, so that averages are exact.
    bool steady = false;
    /// The shortest window with this property.
    weir::duration period{};
    /// In real time: by how much the machine was late at worst to wake up somebody who slept.
    weir::duration late{};
};

}  // namespace simulate

#endif
