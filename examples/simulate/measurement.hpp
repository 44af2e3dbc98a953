// simulate: the result of a measurement.
// It has the statistics of a window of time, and properties of this window.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_MEASUREMENT_HPP
#define WEIR_EXAMPLES_SIMULATE_MEASUREMENT_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace simulate {

/// The stage and the item whose failure stopped a run.
struct seen_failure {
    std::string stage;
    std::uint64_t item = 0;
};

/// The statistics of a window of time.
struct measurement {
    weir::pipeline_stats stats;
    /// True if the window is a whole number of periods of a steady state, so that averages are exact.
    bool steady = false;
    /// The shortest window with this property.
    weir::duration period{};
    /// In real time: the largest delay of a wake-up.
    weir::duration late{};
    /// The laps that ended before the measurement did, if the spec asks for laps.
    std::vector<weir::pipeline_stats> laps{};
    /// None: nothing stopped the run, or the consumer did not get the failure.
    std::optional<seen_failure> failed{};
};

}  // namespace simulate

#endif
