// weir simulation: a whole pipeline under many schedules
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_PIPELINE_HPP
#define WEIR_SIMULATION_EXPLORE_PIPELINE_HPP

#include <weir/simulation/explore.hpp>
#include <weir/simulation/identities.hpp>
#include <weir/simulation/stepwise.hpp>
#include <weir/simulation/world.hpp>

#include <concepts>  // for std::invocable
#include <utility>   // for std::declval, std::move
#include <vector>    // for std::vector

namespace weir::simulation {

namespace detail {

template <class Pipeline>
using run_of = decltype(std::declval<const Pipeline&>().template start<stepwise>(std::declval<world&>()));
template <class Pipeline>
using items_of = std::vector<typename run_of<Pipeline>::value_type>;
template <class Pipeline>
concept gives_no_items = !requires { typename run_of<Pipeline>::value_type; };
template <class Pipeline>
using result_of = decltype(std::declval<run_of<Pipeline>&>().wait());

}  // namespace detail

/// Runs a complete pipeline under many schedules, and calls `judge` with the items of each run:
///
///     weir::simulation::explore(pipeline, [](std::vector<batch> all) { CHECK(all.size() == 7); });
///
/// After every step, the statistics of the run are checked, too (`check_identities`).
/// Everything else is as for a scenario. All schedules run the same pipeline: its functions have to reset
/// state that they keep from run to run.
///
/// \param judge  takes the items by value, in the order in which they came; throws if they are wrong.
/// \returns how many schedules and steps were run.
template <class Pipeline, std::invocable<detail::items_of<Pipeline>> Judge>
explored explore(const Pipeline& pipeline, Judge judge, explore_options options = {}) {
    const auto scenario = [&](world& w) {
        auto run = pipeline.template start<stepwise>(w);
        w.always([&run] { simulation::check_identities(run.stats()); });
        detail::items_of<Pipeline> all;
        while (auto item = run.get()) all.push_back(std::move(*item));
        simulation::check_identities(run.stats());
        judge(std::move(all));
    };
    return simulation::explore(scenario, std::move(options));
}

/// The same for a pipeline that ends with a `for_each`: `judge` is called after the end of the run.
///
/// \param judge  takes the `run_result`; throws if the result, or an effect of the last stage, is wrong.
template <class Pipeline, class Judge>
    requires detail::gives_no_items<Pipeline> && std::invocable<Judge, detail::result_of<Pipeline>>
explored explore(const Pipeline& pipeline, Judge judge, explore_options options = {}) {
    const auto scenario = [&](world& w) {
        auto run = pipeline.template start<stepwise>(w);
        w.always([&run] { simulation::check_identities(run.stats()); });
        judge(run.wait());
    };
    return simulation::explore(scenario, std::move(options));
}

}  // namespace weir::simulation

#endif
