// simulate: observes how long a pipeline takes to reach its steady state.
// The period of the steady state is known before.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SETTLING_HPP
#define WEIR_EXAMPLES_SIMULATE_SETTLING_HPP

#include "experiment.hpp"
#include "windows.hpp"

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/task.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

// How long it takes from the start until every period is like the others.
template <class Run>
weir::task<weir::duration> observe_settling(experiment<Run>& e, weir::duration period) {
    constexpr std::size_t periods = 400;
    std::vector<std::vector<std::int64_t>> windows;
    weir::pipeline_stats before = co_await e.snapshot(e.start());
    for (std::size_t i = 1; i <= periods; ++i) {
        weir::pipeline_stats now = co_await e.snapshot(e.start() + period * static_cast<std::int64_t>(i));
        windows.push_back(figures(now - before));
        before = std::move(now);
    }
    std::size_t settled = periods;
    while (settled > 0 && windows[settled - 1] == windows.back()) --settled;
    e.stop();
    co_return period* static_cast<std::int64_t>(settled);
}

}  // namespace detail

}  // namespace simulate

#endif
