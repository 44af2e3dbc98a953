// simulate: observes a window of time: from the start to an instant, or some time after a warm-up.
// In real time, a window in which the machine stood still is repeated.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_WINDOW_HPP
#define WEIR_EXAMPLES_SIMULATE_WINDOW_HPP

#include "experiment.hpp"
#include "measurement.hpp"

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>  // for std::max
#include <chrono>     // for std::chrono::milliseconds
#include <utility>    // for std::move

namespace simulate {

namespace detail {

// Measures from the start to an instant, before anything that is due at this instant happens.
template <class Run>
weir::task<measurement> observe_until(experiment<Run>& e, weir::duration end) {
    measurement result;
    result.stats = co_await e.snapshot(e.start() + end);
    e.stop();
    co_return result;
}

// Measures in real time. If the machine stands still for a while, a coroutine that sleeps and reads the clock
// notices, and the window is measured again. `period`: events happen at its multiples from the start; 0: unknown.
template <class Run>
weir::task<measurement> observe_window(experiment<Run>& e, weir::duration warm_up, weir::duration length,
                                       weir::duration period) {
    measurement result;
    constexpr int attempts = 4;
    constexpr weir::duration nap = std::chrono::milliseconds(10);
    constexpr weir::duration undisturbed = std::chrono::milliseconds(4);
    constexpr weir::duration shift = std::chrono::milliseconds(2);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        weir::duration begin_after = e.now() - e.start() + warm_up;
        // A little after the instants at which things happen, so that a late wake-up does not move an
        // item into another window.
        if (period.count() > 0) begin_after += period - begin_after % period + shift;
        const weir::time_point begin = e.start() + begin_after;
        const weir::time_point end = begin + length;
        const weir::pipeline_stats before = co_await e.snapshot(begin);
        weir::duration late = e.now() - begin;
        for (weir::time_point next = begin + nap; next < end; next += nap) {
            co_await weir::sleep_until(next);
            late = std::max(late, e.now() - next);
        }
        weir::pipeline_stats after = co_await e.snapshot(end);
        late = std::max(late, e.now() - end);
        if (attempt == 0 || late < result.late) {
            result.stats = std::move(after) - before;
            result.late = late;
        }
        if (late < undisturbed) break;
    }
    e.stop();
    co_return result;
}

}  // namespace detail

}  // namespace simulate

#endif
