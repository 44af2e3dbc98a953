// weir simulation: checks that the statistics of a run are consistent, at any instant
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

/// Checks that the statistics of a run are consistent. For `world::always`, for the end of a scenario, and
/// for runs on real time.
///
///     w.always([&] { weir::simulation::check_identities(run.stats()); });
///
/// Each slot is always in exactly one state. Each item that was put into a queue was taken, is in the queue,
/// or was discarded. No get waits while there is an item, and no put while the queue is empty. No time is
/// negative.
/// Errors: `failed_check`; the message names the stage or the queue, and the violated identity.
void check_identities(const pipeline_stats& stats);

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/identities.ipp>
#endif

#endif
