// weir simulation: an executor on virtual time in which each step is a decision
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_WORLD_HPP
#define WEIR_SIMULATION_WORLD_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/loop_turns.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/parking.hpp>
#include <weir/simulation/decisions.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstddef>     // for std::size_t
#include <functional>  // for std::function
#include <stdexcept>   // for std::runtime_error
#include <string>      // for std::string
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace weir::simulation {

/// A check of a scenario has failed: thrown by `world::demand` and `check_identities`.
class failed_check : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The world of one schedule of a scenario: an executor on virtual time. Which of the ready coroutines runs
/// next is a decision of the schedule (see `explore`). After every step, all channels with waiters are
/// checked, and the functions given to `always` are called.
///
/// Threads: the scenario's thread runs all coroutines. While a coroutine blocks this thread, in a wait of the
///          library, another thread runs the others. No other thread may post. Stages that ask for an
///          executor of their own run here, too. If the scenario's thread waits for something that has come,
///          a decision says whether the thread continues at once or later.
/// Errors: as on `virtual_time`, `deadlock_error` in a wait that can't end.
/// Lifetime: that of the scenario's call.
/// Cost: std::terminate if memory lacks while more coroutines are ready than ever before, and than 256.
class world final : public weir::detail::virtual_executor, weir::detail::loop_turns::loop {
  public:
    /// For `explore`.
    explicit world(detail::decisions& decisions, std::size_t most_steps = 100'000);

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h.address()); }

    void add(timer& t) noexcept override;
    void cancel(timer& t) noexcept override;
    bool drive(weir::detail::parker& done, time_point limit) override;

    /// \returns a number below `n`, as a decision of the schedule: a replay returns the same number, and
    ///          `strategy::exhaustive` tries all numbers.
    /// \param n  at least 1.
    /// Errors: `std::invalid_argument` for 0.
    [[nodiscard]] std::size_t draw(std::size_t n);

    /// Throws `failed_check` unless `right`. `what`: the expectation, as a sentence.
    static void demand(bool right, const char* what);
    /// The same by its older name, which is a macro of some engines and systems.
    static void(check)(bool right, const char* what) { demand(right, what); }

    /// Calls `invariant` after every step, until the scenario ends. Its first exception is the failure of the
    /// schedule; after that step it is not called any more. The destructor of a run makes steps, too: declare
    /// other objects that `invariant` uses before the run.
    void always(std::function<void()> invariant) { invariants_.push_back(std::move(invariant)); }

    /// Calls `action` between the steps `step` - 1 and `step`, counted from 0; at once if that point is over.
    /// If `step` comes from `draw`, the action (a stop, a close, a time-out) is tried at all points of a
    /// schedule. The destructor of a run makes steps, too: declare objects that `action` uses before the run.
    void at_step(std::size_t step, std::function<void()> action);

    /// How many coroutines have been resumed until now.
    [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

    /// Runs until nothing is ready and no timer is left.
    void run();

    /// \returns the failure that a check after a step has found; empty: none.
    const std::string& broken() const noexcept { return broken_; }
    /// Called after the scenario. \returns a sentence about coroutines that are still ready; empty: none.
    std::string left_behind() const;

  private:
    struct planned {
        std::size_t step;
        std::function<void()> action;
    };

    // Decides whether the scenario's thread continues, or a ready coroutine runs before it.
    bool thread_goes_on();

    void turn(weir::detail::parker&, time_point limit) override;
    time_point instant() const noexcept override { return now(); }
    void sleep(weir::detail::parker&, time_point) noexcept override {}

    // Resumes a coroutine, after it has moved the clock to the next timer if none is ready. False: there is
    // no coroutine and no timer before `limit`.
    bool step(time_point limit);

    void act();

    // Checks channels and invariants. Records failures by break_off() instead of throwing them: a destructor
    // may have called drive().
    void examine();
    void break_off(std::string what);

    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    detail::decisions* decisions_;
    const std::size_t most_steps_;
    std::vector<void*> ready_;  // in the order of the posts
    std::size_t chosen_ = 0;    // 1 + the index of the next coroutine; 0: not decided yet
    std::size_t steps_ = 0;
    std::vector<planned> actions_;  // the next action is the last element
    std::size_t next_action_ = never;
    std::vector<std::function<void()>> invariants_;
    std::string broken_;
    bool is_limit_reached_ = false;
    bool is_acting_ = false;  // an action runs, outside of all coroutines
    bool runs_ = false;       // run() goes on: a coroutine is ready, or a timer is left
    weir::detail::loop_turns turns_;
};

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/world.ipp>
#endif

#endif
