// weir simulation: how schedules are explored, and what comes of it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_OPTIONS_HPP
#define WEIR_SIMULATION_EXPLORE_OPTIONS_HPP

#include <weir/simulation/decisions.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir::simulation {

/// How a scenario is explored.
struct explore_options {
    /// How many schedules, at most; fewer if there are no more.
    std::size_t schedules = 1'000;

    /// How the next step is chosen.
    simulation::strategy strategy = simulation::strategy::random;

    /// Of the first schedule; each has one of its own, which depends on this and its number.
    std::uint64_t seed = 1;

    /// Of `strategy::priorities`: how many decisions have to fall in order for the fault to show.
    unsigned depth = 3;

    /// Of `strategy::exhaustive`: how many decisions may be others than first come, first served.
    std::size_t deviations = static_cast<std::size_t>(-1);

    /// A schedule that has more steps has failed: it does not end.
    std::size_t most_steps = 100'000;

    /// Not empty: only this schedule, as the message of a failure gives it.
    std::string replay = {};

    /// How many schedules may be tried to make the one that failed shorter.
    std::size_t attempts_to_shrink = 2'000;
};

/// What was explored, all of it without a failure.
struct explored {
    std::size_t schedules = 0;  ///< how many there were
    std::size_t steps = 0;      ///< of all schedules together
    bool complete = false;      ///< there are no other schedules within the bounds
};

/// A schedule under which the scenario fails. `what()` says how, and how to see it again.
class schedule_failure : public std::runtime_error {
  public:
    /// \param message  what `what()` gives; `cause`, `seed` and `schedule`: what the members give.
    schedule_failure(const std::string& message, std::string cause, std::uint64_t seed, std::string schedule)
        : std::runtime_error(message), cause_(std::move(cause)), seed_(seed), schedule_(std::move(schedule)) {
    }

    /// What went wrong, under the shortest schedule that was found.
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

}  // namespace weir::simulation

#endif
