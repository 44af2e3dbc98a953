// simulate: runs the pipeline of a spec and measures it: up to an instant, or in its steady
// state.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_MEASURE_HPP
#define WEIR_EXAMPLES_SIMULATE_MEASURE_HPP

#include "experiments.hpp"
#include "measurement.hpp"
#include "settling.hpp"
#include "spec.hpp"
#include "steady_state.hpp"
#include "window.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>

#include <algorithm>  // for std::clamp, std::max
#include <chrono>     // for std::chrono_literals
#include <cstdint>    // for std::int64_t, std::uint64_t

namespace simulate {

/// Measures on virtual time, exactly: up to `snapshot_ns`; without `snapshot_ns` in the steady state, or the whole
/// run if the source ends.
/// \param seed 0: ready coroutines run in order; else their order is shuffled, which must not change results
[[nodiscard]] inline measurement measure_virtual(const pipeline_spec& spec, std::uint64_t seed = 0) {
    weir::virtual_time clock(seed);
    return detail::with_experiment(spec, clock, [&spec](auto& e) {
        if (spec.snapshot_ns || ends(spec)) return detail::measure_part(e);
        return e.observed_by(detail::observe_steady_state(e));
    });
}

/// Measures the same windows in real time. A measurement on virtual time first finds the warm-up and the period of
/// the steady state; the window is the whole number of periods closest to four seconds. The measurement is
/// repeated if the machine was busy with other things.
[[nodiscard]] inline measurement measure_real(const pipeline_spec& spec) {
    using namespace std::chrono_literals;
    weir::duration warm_up = 1s;
    weir::duration window = 4s;
    measurement expected;
    const bool is_part = spec.snapshot_ns || ends(spec);
    if (!is_part) expected = measure_virtual(spec);
    if (expected.steady) {
        const weir::duration period = expected.period;
        window = period * std::max<std::int64_t>(1, (window + period / 2) / period);
        weir::virtual_time clock;
        static_cast<void>(detail::with_experiment(spec, clock, [&](auto& rehearsal) {
            warm_up =
                std::clamp<weir::duration>(rehearsal.observed_by(detail::observe_settling(rehearsal, period)),
                                           warm_up, 20s);
            return measurement();
        }));
    }
    weir::thread_pool pool(2);
    measurement m = detail::with_experiment(spec, pool, [&](auto& e) {
        if (is_part) return detail::measure_part(e);
        return e.observed_by(detail::observe_window(e, warm_up, window, expected.period));
    });
    if (is_part) return m;
    m.steady = expected.steady;
    m.period = expected.period;
    return m;
}

}  // namespace simulate

#endif
