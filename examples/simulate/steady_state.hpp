// simulate: observes a pipeline in its steady state, in a window of whole periods.
// This works on virtual time only: on another clock nothing repeats exactly.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_STEADY_STATE_HPP
#define WEIR_EXAMPLES_SIMULATE_STEADY_STATE_HPP

#include "experiment.hpp"
#include "measurement.hpp"
#include "windows.hpp"

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t
#include <optional>  // for std::optional
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

// Empty if there is no period yet.
template <class Run>
weir::task<std::optional<measurement>> find_windows(experiment<Run>& e) {
    const std::vector<std::int64_t>& takes = e.takes();
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < takes.size(); ++i) gaps.push_back(takes[i] - takes[i - 1]);
    const std::size_t period = period_of(gaps);
    if (period == 0) co_return std::nullopt;
    const weir::duration length(takes.back() - takes[takes.size() - 1 - period]);
    const auto periods_a_window = static_cast<std::int64_t>((99 + period) / period);
    const weir::duration step = length * periods_a_window;

    constexpr std::size_t max_windows = 120;
    std::vector<weir::pipeline_stats> snapshots;
    std::vector<std::vector<std::int64_t>> windows;
    weir::time_point when = e.now() + step;
    snapshots.push_back(co_await e.snapshot(when));
    while (windows.size() < max_windows) {
        when += step;
        weir::pipeline_stats now = co_await e.snapshot(when);
        windows.push_back(figures(now - snapshots.back()));
        snapshots.push_back(std::move(now));
        for (std::size_t q = 1; 3 * q <= windows.size(); ++q) {
            if (!repeats_after(windows, q)) continue;
            weir::pipeline_stats whole = snapshots.back() - snapshots[snapshots.size() - 1 - q];
            if (!balanced(e.spec(), whole)) continue;
            measurement result;
            result.stats = std::move(whole);
            result.steady = true;
            result.period = q == 1 ? length : step * static_cast<std::int64_t>(q);
            co_return result;
        }
    }
    co_return std::nullopt;
}

// Searches for the period instead of computing it. The rhythm of the foreground gives a first guess; it is
// confirmed if all statistics repeat in windows of a multiple of this guess. Slow drifts take long to
// end, so the warm-up is doubled until a period is found. On virtual time only: on another clock
// nothing repeats exactly.
template <class Run>
weir::task<measurement> observe_steady_state(experiment<Run>& e) {
    constexpr std::size_t first_warm_up = 200;  // items of the foreground
    constexpr std::size_t last_warm_up = 6400;
    for (std::size_t warm_up = first_warm_up; warm_up <= last_warm_up; warm_up *= 2) {
        while (e.takes().size() < warm_up) co_await weir::sleep_for(stride(e.spec()));
        auto found = co_await find_windows(e);
        if (found) {
            e.stop();
            co_return *std::move(found);
        }
    }
    // No period was found: use a long window.
    const weir::duration length = e.now() - e.start();
    const weir::pipeline_stats before = co_await e.snapshot(e.now() + stride(e.spec()));
    weir::pipeline_stats after = co_await e.snapshot(e.now() + length);
    measurement result;
    result.stats = std::move(after) - before;
    e.stop();
    co_return result;
}

}  // namespace detail

}  // namespace simulate

#endif
