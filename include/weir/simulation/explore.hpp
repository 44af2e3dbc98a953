// weir simulation: runs a test under many schedules (orders of coroutines' steps), and reports one that fails
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_HPP
#define WEIR_SIMULATION_EXPLORE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/simulation/world.hpp>

#include <concepts>     // for std::invocable
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t, std::uint64_t
#include <functional>   // for std::function, std::ref
#include <stdexcept>    // for std::runtime_error
#include <string>       // for std::string
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::declval, std::move
#include <vector>       // for std::vector

namespace weir::simulation {

/// Options of `explore`.
struct explore_options {
    /// The maximum number of schedules. `strategy::exhaustive`, which runs each schedule once, runs fewer if
    /// there are no more.
    std::size_t schedules = 1'000;

    /// How decisions are made, each for one of several possible next steps.
    simulation::strategy strategy = simulation::strategy::random;

    /// The seed of each schedule is made from this value and the number of the schedule.
    std::uint64_t seed = 1;

    /// For `strategy::priorities`, which gives each coroutine a random priority, and lowers a priority at
    /// each of `depth` - 1 random steps. So the strategy finds faults that need `depth` decisions in a
    /// certain order. At least 1.
    unsigned depth = 3;

    /// For `strategy::exhaustive`: how many decisions of a schedule may differ from first come, first served.
    std::size_t deviations = static_cast<std::size_t>(-1);

    /// A schedule with more steps counts as endless, and fails.
    std::size_t most_steps = 100'000;

    /// If not empty, only this schedule is run: the text in quotes after WEIR_SCHEDULE= in the message of a
    /// failure.
    std::string replay = {};

    /// How many schedules may be run to shorten the schedule that failed.
    std::size_t attempts_to_shrink = 2'000;
};

/// The result of `explore` if no schedule has failed.
struct explored {
    std::size_t schedules = 0;  ///< the number of schedules that were run
    std::size_t steps = 0;      ///< the number of their steps, summed
    bool complete = false;      ///< `strategy::exhaustive` has run all schedules that `deviations` allows
};

/// A scenario fails under a schedule. `what()` says why, and how to repeat the schedule.
class schedule_failure : public std::runtime_error {
  public:
    /// \param message  the result of `what()`; `cause`, `seed` and `schedule`: those of the members.
    schedule_failure(const std::string& message, std::string cause, std::uint64_t seed, std::string schedule)
        : std::runtime_error(message), cause_(std::move(cause)), seed_(seed), schedule_(std::move(schedule)) {
    }

    /// The text of the failure under the shortest schedule that was found.
    [[nodiscard]] const std::string& cause() const noexcept { return cause_; }
    /// The seed of the schedule that failed first, a value for the environment variable `WEIR_SEED`; 0: the
    /// schedule was not made from a seed.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// The shortest schedule that was found, a value for the environment variable `WEIR_SCHEDULE` or for
    /// `explore_options::replay`.
    [[nodiscard]] const std::string& schedule() const noexcept { return schedule_; }

  private:
    std::string cause_;
    std::uint64_t seed_;
    std::string schedule_;
};

namespace detail {

// Implements `explore`. Not a template: only the call of the scenario is compiled for each scenario.
class explorer {
  public:
    using scenario = std::function<void(world&)>;

    explorer(scenario run, explore_options options);

    explored explore();

  private:
    using choices = std::vector<std::uint32_t>;

    // Runs schedules that are made from seeds: for `strategy::random` and `strategy::priorities`.
    explored try_some();

    // Sets the strategy of `decisions_`. For `strategy::priorities`, first runs the first-come, first-served
    // schedule, and returns 1.25 times its number of steps: the estimated length of all other schedules, in
    // which priorities change at random steps. Later schedules don't change the estimate: otherwise a seed
    // alone would not determine its schedule. For `strategy::random`, returns 0.
    std::size_t set_strategy();

    // Runs the schedule that `decisions_.begin` has begun. Returns the text of its failure; empty: none.
    std::string attempt();

    // Returns the decisions of the last schedule.
    choices chosen() const;

    // Runs only the schedule `explore_options::replay`.
    explored replay();

    // Runs all schedules, for `strategy::exhaustive`, by depth-first search: increases the last decision that
    // can be increased, and makes all decisions after it first come, first served.
    explored try_all();
    // Whether the last decision of `given`, which chose one of `of` options, can be increased: a further
    // option is left, and `explore_options::deviations` allows that this decision deviates.
    bool may_deviate(const choices& given, std::uint32_t of) const;

    // Repeats the schedule that has failed, shortens it if the same decisions lead to a failure again, and
    // throws the `schedule_failure`.
    [[noreturn]] void fail(std::string cause, std::uint64_t seed);

    // Whether a decision deviates from first come, first served.
    static bool deviates(std::uint32_t chosen) { return chosen != 0; }
    static std::size_t deviations(const choices& all);
    // Returns the text "3 decisions other", for `n` of 3.
    static std::string deviations_text(std::size_t n);

    bool may_try() const { return attempts_ < options_.attempts_to_shrink; }
    bool fails(const choices& given);

    // Sets decisions to option 0, in ever smaller groups, and then lowers the other decisions, until the
    // attempts are used up. Keeps the changes with which the schedule still fails. Source of the halving:
    // Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28 (2002).
    choices shrink(choices best);

    const scenario run_;
    explore_options options_;
    std::uint64_t only_ = 0;  // the seed of the only schedule that is run, from WEIR_SEED
    bool has_only_ = false;   // WEIR_SEED is set
    decisions decisions_;
    explored done_;
    std::size_t last_steps_ = 0;   // the number of steps of the last schedule
    bool seen_something_ = false;  // a schedule has used its world: by a step, a decision or its clock
    std::size_t attempts_ = 0;     // schedules that were run to shorten the one that failed
};

}  // namespace detail

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
/// \param scenario  starts the code under test in the world, waits for its end, and checks the results. A
///                  scenario fails if it throws; if after a step a channel is inconsistent or an invariant
///                  throws (`world::always`); if it doesn't end; or if a coroutine is still ready at its end.
///                  A scenario must not use other clocks, threads or random numbers than those of the world,
///                  so that the decisions determine its course.
/// \returns how many schedules and steps were run.
/// Errors: `schedule_failure` for the first schedule that fails. The schedule is shortened, by at most
///         `explore_options::attempts_to_shrink` attempts. A `replay` is not shortened, nor is a schedule
///         whose decisions give another outcome the second time. `std::invalid_argument` for `schedules` or
///         `depth` of 0, for a negative number of schedules, steps or attempts, for a `replay` or a
///         `WEIR_SEED` of another form, and, without a `replay`, if no scenario used its world.
///         Environment variables, with values from a failure's message: with `WEIR_SCHEDULE`, each `explore`
///         runs only this schedule. With `WEIR_SEED`, it runs only the schedule of this seed; for
///         `strategy::priorities`, first the first-come, first-served one; `exhaustive` ignores the seed.
/// Threads: everything runs on the calling thread, except while a coroutine blocks this thread: see `world`.
/// Cost: some 40 ns a step of coroutines over channels, 110 ns of a measured pipeline. In a short schedule,
///       most of the time is the start of the pipeline (4 us for three stages).
template <std::invocable<world&> Scenario>
explored explore(Scenario scenario, explore_options options = {}) {
    return detail::explorer(std::ref(scenario), std::move(options)).explore();
}

/// Rejects at compile time an argument that is no scenario.
template <class Scenario>
    requires(!std::invocable<Scenario&, world&>)
explored explore(Scenario, const explore_options& = {}) {
    static_assert(std::is_invocable_v<Scenario&, world&>,
                  "weir: explore needs a scenario: a function that takes a simulation::world&, starts what "
                  "is to be tested on it, and checks");
    return {};
}

/// The policy for simulations: as `summed` (statistics without histograms), but each `put` and `get` lets
/// another coroutine run, even if the operation doesn't wait:
/// `pipeline.start<weir::simulation::stepwise>(world)`, `channel<T, stepwise>`. So a simulation reaches the
/// schedules of several threads, as far as they differ in the order of operations.
struct stepwise : summed {
    static constexpr bool every_operation_ends_a_turn = true;
};

namespace detail {

// Throws `failed_check` unless `right`. `what`: "stage", "queue" or "pipeline", whose name is `name`.
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
/// Each slot (worker of a stage) is always in exactly one state. Each item that was put into a queue was
/// taken, is in the queue, or was discarded. No get waits while there is an item, no put waits while the
/// queue is empty. No time is negative. Each successful invocation has a time, each put and get a wait,
/// unless the run is `unmeasured`. The first item came while the run lasted.
/// Errors: `failed_check`; the message names the stage or the queue, and the violated identity.
void check_identities(const pipeline_stats& stats);

/// Runs a complete pipeline under many schedules, and calls `judge` with the items of each run:
///
///     weir::simulation::explore(pipeline, [](std::vector<batch> all) { CHECK(all.size() == 7); });
///
/// After every step, the statistics of the run are checked, too (`check_identities`). All schedules run the
/// same pipeline: its functions have to reset state that they keep from run to run.
///
/// \param judge  takes the items by value, in the order in which they came; throws if they are wrong.
/// \returns how many schedules and steps were run.
/// Errors: as `explore` of a scenario.
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

/// Runs a pipeline whose last stage uses the items itself (`for_each`) under many schedules, and calls
/// `judge` after the end of each run.
///
/// \param judge  takes the `run_result`; throws if the result, or an effect of the last stage, is wrong.
/// \returns how many schedules and steps were run.
/// Errors: as `explore` of a scenario.
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
#include <weir/simulation/explore.ipp>
#endif

#endif
