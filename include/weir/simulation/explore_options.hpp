// weir simulation: the options of `explore`, its result, and the exception for a schedule that fails
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

}  // namespace weir::simulation

#endif
