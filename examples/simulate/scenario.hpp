// simulate: a pipeline, and the figures that a document gives for it.
// A figure that the document does not give has no value.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SCENARIO_HPP
#define WEIR_EXAMPLES_SIMULATE_SCENARIO_HPP

#include "spec.hpp"

#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace simulate {

/// The figures of one queue in the document; none where it has none.
struct documented_queue {
    std::optional<double> put_ms;
    std::optional<double> get_ms;
    std::optional<double> occupancy_percent;
};

/// One pipeline of the document.
struct scenario {
    std::string title;
    pipeline_spec spec;
    double documented_rate;                // items a second at the sink
    std::vector<documented_queue> queues;  // src, each stage, sink
};

}  // namespace simulate

#endif
