// weir simulation: what has to hold among the figures of a run, at any instant
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_IDENTITIES_HPP
#define WEIR_SIMULATION_IDENTITIES_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/simulation/world.hpp>

#include <string>  // for std::string

namespace weir::simulation {

namespace detail {

void demand_identity(bool right, const char* what, const std::string& name, const char* identity);

}  // namespace detail

/// Checks that the statistics of a run don't contradict themselves: for `world::always`, at the end of a
/// scenario, or of your own runs on real time.
///
///     w.always([&] { weir::simulation::check_identities(run.stats()); });
///
/// Each slot is always in exactly one state; what was put into a queue was taken out, is inside, or was
/// discarded; nobody waits to get where an item is, nor to put where none is; no time is negative.
/// Errors: `failed_check` that names the stage or the queue, and what is not so.
void check_identities(const pipeline_stats& stats);

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/identities.ipp>
#endif

#endif
