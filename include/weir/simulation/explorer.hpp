// weir simulation, internal: goes through schedules until one fails, and makes that one short
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

// Not a template, so that only the call of the scenario is compiled again for each.
class explorer {
  public:
    using scenario = std::function<void(world&)>;

    explorer(scenario run, explore_options options);

    explored explore();

  private:
    using choices = std::vector<std::uint32_t>;

    explored try_some();

    // How long a schedule may become, where the strategy asks: measured by one that is first come, first
    // served. What the schedules so far have shown would do better, but a seed alone couldn't find its
    // schedule again.
    std::size_t set_strategy();

    // One schedule, by the decisions that have begun. Returns what went wrong, if anything.
    std::string attempt();

    // With what is nested in it: a pipeline_failure carries the exception of the stage.
    static std::string text_of(const std::exception_ptr& error);

    choices chosen() const;

    explored replay();

    // Depth first: the last decision that can still be another one becomes it, and what follows is first
    // come, first served again.
    explored try_all();
    bool may_deviate(const choices& given, std::uint32_t of) const;

    [[noreturn]] void fail(std::string cause, std::uint64_t seed);

    static bool is_other(std::uint32_t chosen) { return chosen != 0; }
    static std::size_t deviations(const choices& all);
    static std::string count(std::size_t n);

    bool may_try() const { return attempts_ < options_.attempts_to_shrink; }
    bool fails(const choices& given);

    // Fewer decisions that are not the first on offer. Source of the halving: Zeller, Hildebrandt,
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
