// simulate: what was measured of a pipeline.
// The statistics of a window of time, and what is known of the window.
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

/// Which item of which stage stopped a run.
struct seen_failure {
    std::string stage;
    std::uint64_t item = 0;
};

/// What was measured: the statistics of a window of time.
struct measurement {
    weir::pipeline_stats stats;
    /// True if the window is a whole number of periods of a steady state, so that averages are exact.
    bool steady = false;
    /// The shortest window with this property.
    weir::duration period{};
    /// In real time: by how much the machine was late at worst to wake up somebody who slept.
    weir::duration late{};
    /// Where the spec asks for them: those that ended before what was measured did.
    std::vector<weir::pipeline_stats> laps{};
    /// None: nothing has stopped it, or its consumer wasn't told.
    std::optional<seen_failure> failed{};
};

}  // namespace simulate

#endif
