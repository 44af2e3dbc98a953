// weir simulation, internal: runs schedules until one fails, and shortens that schedule
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORER_HPP
#define WEIR_SIMULATION_EXPLORER_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/random_bits.hpp>
#include <weir/simulation/decisions.hpp>
#include <weir/simulation/explore_options.hpp>
#include <weir/simulation/world.hpp>

#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::uint32_t, std::uint64_t
#include <exception>   // for std::exception_ptr
#include <functional>  // for std::function
#include <string>      // for std::string
#include <vector>      // for std::vector

namespace weir::simulation {

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

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/explorer.ipp>
#endif

#endif
