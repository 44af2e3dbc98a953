// weir simulation: a pipeline under many schedules: its policy, the check of its statistics, and `explore`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_PIPELINE_HPP
#define WEIR_SIMULATION_EXPLORE_PIPELINE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/simulation/world.hpp>

#include <concepts>  // for std::invocable
#include <string>    // for std::string
#include <utility>   // for std::declval, std::move
#include <vector>    // for std::vector

namespace weir::simulation {

/// As `summed`; and after every `put` and `get`, also one that doesn't wait, another coroutine may run:
/// `pipeline.start<weir::simulation::stepwise>(world)`, `channel<T, stepwise>`. So a simulation reaches the
/// schedules of several threads, as far as they differ in the order of operations.
struct stepwise : summed {
    static constexpr bool every_operation_ends_a_turn = true;
};

namespace detail {

void demand_identity(bool right, const char* what, const std::string& name, const char* identity);

template <class Pipeline>
using run_of = decltype(std::declval<const Pipeline&>().template start<stepwise>(std::declval<world&>()));
template <class Pipeline>
using items_of = std::vector<typename run_of<Pipeline>::value_type>;
template <class Pipeline>
concept gives_no_items = !requires { typename run_of<Pipeline>::value_type; };
template <class Pipeline>
using result_of = decltype(std::declval<run_of<Pipeline>&>().wait());

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

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/explore_pipeline.ipp>
#endif

#endif
