// simulate: makes the experiment that a spec describes, and runs it with an observer.
// The observer's result is the measurement.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPERIMENTS_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPERIMENTS_HPP

#include "experiment.hpp"
#include "measurement.hpp"
#include "processors.hpp"
#include "spec.hpp"
#include "start.hpp"
#include "window.hpp"

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

// Starts the run, and calls `use` with its experiment. `use` returns the measurement.
template <class Use>
measurement with_experiment(const pipeline_spec& spec, weir::executor& clock, Use use) {
    std::optional<processors> cpus;
    if (spec.workers) cpus.emplace(*spec.workers, clock);
    processors* const at = cpus ? &*cpus : nullptr;
    std::vector<weir::pipeline_stats> laps;
    weir::run_options options;
    if (spec.lap_ns) {
        options.lap = weir::duration(*spec.lap_ns);
        options.on_lap = [&laps](const weir::pipeline_stats& lap) { laps.push_back(lap); };
    }
    const auto measured = [&](auto run) {
        experiment e(spec, std::move(run), clock, at);
        measurement m = use(e);
        m.failed = e.failed();
        return m;
    };
    measurement m = !spec.source_ns.empty()
                        ? measured(simulate::start_timed(spec, clock, at, std::move(options)))
                    : spec.epochs ? measured(simulate::start<true>(spec, clock, at, std::move(options)))
                                  : measured(simulate::start<false>(spec, clock, at, std::move(options)));
    // A lap that ends with the measurement may be present or not.
    const auto whole =
        spec.lap_ns ? static_cast<std::size_t>((m.stats.elapsed.count() - 1) / *spec.lap_ns) : 0;
    if (laps.size() > whole) laps.resize(whole);
    m.laps = std::move(laps);
    return m;
}

// Measures up to an instant, or the whole run if the source ends.
template <class Experiment>
measurement measure_part(Experiment& e) {
    if (!e.spec().snapshot_ns) return {.stats = e.whole()};
    return e.observed_by(observe_until(e, weir::duration(*e.spec().snapshot_ns)));
}

}  // namespace detail

}  // namespace simulate

#endif
