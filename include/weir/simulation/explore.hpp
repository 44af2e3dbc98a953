// weir simulation: runs a scenario under many schedules, and reports a schedule that fails
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_HPP
#define WEIR_SIMULATION_EXPLORE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/random_bits.hpp>
#include <weir/simulation/decisions.hpp>
#include <weir/simulation/world.hpp>

#include <concepts>     // for std::invocable
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t, std::uint64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::function, std::ref
#include <stdexcept>    // for std::runtime_error
#include <string>       // for std::string
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::simulation {

/// Options of `explore`.
struct explore_options {
    /// The maximum number of schedules; fewer are run if there are no more.
    std::size_t schedules = 1'000;

    /// How the next step is chosen.
    simulation::strategy strategy = simulation::strategy::random;

    /// The seed of each schedule is made from this value and the number of the schedule.
    std::uint64_t seed = 1;

    /// For `strategy::priorities`: how many decisions have to come in a certain order to show the fault.
    unsigned depth = 3;

    /// For `strategy::exhaustive`: how many decisions may differ from first come, first served.
    std::size_t deviations = static_cast<std::size_t>(-1);

    /// A schedule with more steps fails, as one that does not end.
    std::size_t most_steps = 100'000;

    /// If not empty, only this schedule is run: the text after WEIR_SCHEDULE= in the message of a failure.
    std::string replay = {};

    /// How many schedules may be run to shorten the schedule that failed.
    std::size_t attempts_to_shrink = 2'000;
};

/// The result of `explore` if no schedule has failed.
struct explored {
    std::size_t schedules = 0;  ///< the number of schedules that were run
    std::size_t steps = 0;      ///< the number of their steps, summed
    bool complete = false;      ///< there are no other schedules within the bounds
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
    /// The seed of the schedule that failed first: `WEIR_SEED`.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// The shortest schedule: `WEIR_SCHEDULE`, or `explore_options::replay`.
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

    explored try_some();

    // Returns the expected number of steps, for `strategy::priorities`: measured by a schedule that is first
    // come, first served. Longer schedules would improve the estimate, but then a seed alone would not
    // determine its schedule.
    std::size_t set_strategy();

    // Runs one schedule, whose decisions have begun. Returns the text of its failure; empty: none.
    std::string attempt();

    // The text of an exception and of those nested in it, such as the stage's exception in a
    // pipeline_failure.
    static std::string text_of(const std::exception_ptr& error);

    choices chosen() const;

    explored replay();

    // Depth-first search: increases the last decision that can be increased, and makes all decisions after it
    // first come, first served.
    explored try_all();
    bool may_deviate(const choices& given, std::uint32_t of) const;

    [[noreturn]] void fail(std::string cause, std::uint64_t seed);

    static bool is_other(std::uint32_t chosen) { return chosen != 0; }
    static std::size_t deviations(const choices& all);
    static std::string count(std::size_t n);

    bool may_try() const { return attempts_ < options_.attempts_to_shrink; }
    bool fails(const choices& given);

    // Sets decisions to option 0 while the schedule still fails. Source of the halving: Zeller, Hildebrandt,
    // "Simplifying and isolating failure-inducing input", IEEE TSE 28 (2002).
    choices shrink(choices best);

    const scenario run_;
    explore_options options_;
    std::uint64_t only_ = 0;
    bool has_only_ = false;
    decisions decisions_;
    explored done_;
    std::size_t last_steps_ = 0;  // of the last schedule
    bool seen_something_ = false;
    std::size_t attempts_ = 0;
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

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/explore.ipp>
#endif

#endif
