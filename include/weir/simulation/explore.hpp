// weir simulation: runs a scenario under many schedules, and shows the one that fails
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
/// \param scenario  starts what is to be tested in the world, waits for it, and checks. It has failed if it
///                  throws, if after any step a channel or an invariant (`world::always`) is in
///                  contradiction to itself, if it doesn't end, or leaves something that is ready to
///                  run. All that it does has to follow from the world's decisions: no other clock, thread
///                  or random numbers.
/// \returns what was explored.
/// Errors: `schedule_failure` of the first schedule that fails, made as short as possible;
///         `std::invalid_argument` for options that make no sense, and where nothing ran in the world. In the
///         environment, `WEIR_SEED` makes each `explore` run that schedule only, `WEIR_SCHEDULE` the one
///         that was found in the end.
/// Threads: all on the calling one.
/// Cost: some 40 ns a step of coroutines over channels, 110 of a measured pipeline, whose setting up is the
///       most of what a short schedule costs (4 us for three stages).
template <std::invocable<world&> Scenario>
explored explore(Scenario scenario, explore_options options = {}) {
    return detail::explorer(std::ref(scenario), std::move(options)).explore();
}

/// Rejects what is no scenario at compile time.
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
