// weir simulation: runs a scenario under many schedules, and reports a schedule that fails
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_HPP
#define WEIR_SIMULATION_EXPLORE_HPP

#include <weir/simulation/explore_options.hpp>
#include <weir/simulation/explorer.hpp>
#include <weir/simulation/world.hpp>

#include <concepts>     // for std::invocable
#include <functional>   // for std::ref
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::move

namespace weir::simulation {

/// Runs a scenario again and again, each time in a world of its own and under another schedule, until one
/// fails or all are done.
///
///     weir::simulation::explore([](weir::simulation::world& w) {
///         auto run = my_pipeline().start<weir::simulation::stepwise>(w);
///         int items = 0;
///         while (run.get()) ++items;
///         w.demand(items == 20, "20 items come out");
///     }, {.schedules = 100'000});
///
/// \param scenario  starts in the world the code under test, waits for its end, and checks the results. A
///                  scenario fails if it throws; if after a step a channel is inconsistent or an invariant
///                  throws (`world::always`); if it doesn't end; or if a coroutine is still ready at its end.
///                  All that it does has to follow from the world's decisions: no other clock, threads or
///                  random numbers.
/// \returns how many schedules and steps were run.
/// Errors: `schedule_failure` for the first schedule that fails, shortened as far as possible;
///         `std::invalid_argument` for options that make no sense, and if no coroutine ran in the world.
///         Environment variables, with values from a failure's message: with `WEIR_SEED`, each `explore`
///         runs only the schedule of this seed; with `WEIR_SCHEDULE`, only this schedule.
/// Threads: everything runs on the calling thread.
/// Cost: some 40 ns a step of coroutines over channels, 110 ns of a measured pipeline. In a short schedule,
///       most of the time is the start of the pipeline (4 us for three stages).
template <std::invocable<world&> Scenario>
explored explore(Scenario scenario, explore_options options = {}) {
    return detail::explorer(std::ref(scenario), std::move(options)).explore();
}

/// Rejects an argument that is no scenario, at compile time.
template <class Scenario>
    requires(!std::invocable<Scenario&, world&>)
explored explore(Scenario, const explore_options& = {}) {
    static_assert(std::is_invocable_v<Scenario&, world&>,
                  "weir: explore needs a scenario: a function that takes a simulation::world&, starts what "
                  "is to be tested on it, and checks");
    return {};
}

}  // namespace weir::simulation

#endif
