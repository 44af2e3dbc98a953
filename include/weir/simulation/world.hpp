// weir simulation: an executor on virtual time in which each step is a decision
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_WORLD_HPP
#define WEIR_SIMULATION_WORLD_HPP

#include <weir/executor/errors.hpp>
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

/// What a scenario demanded, and what was not so.
class failed_check : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Where one schedule of a scenario happens: an executor on virtual time. What runs next, of all that is
/// ready, is a decision of the schedule (see `explore`). After every step all channels that
/// somebody waits on, and all that `always` was given, are looked at.
///
/// Threads: one runs it, the scenario's; while a coroutine blocks there, in a wait of the library, another
///          one does instead. Nothing may be posted from other threads. Stages that ask for an executor of
///          their own run here all the same.
/// The thread of the scenario, when it waits for something that has come, may go on at once or
///          later: that is a decision, too.
/// Errors: as on `virtual_time`, `deadlock_error` from what waits for ever.
/// Lifetime: that of the scenario's call.
/// Cost: no memory to have more coroutines ready at once than ever before, and than 256: std::terminate.
class world final : public weir::detail::virtual_executor, weir::detail::loop_turns::loop {
  public:
    /// For `explore`.
    explicit world(detail::decisions& decisions, std::size_t most_steps = 100'000);

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h.address()); }

    void add(timer& t) noexcept override;
    void cancel(timer& t) noexcept override;
    bool drive(weir::detail::parker& done, time_point limit) override;

    /// A number below `n` that is part of the schedule: drawn, replayed and shrunk with it, and where all
    /// schedules are tried, every number is.
    /// \param n  at least 1.
    /// Errors: `std::invalid_argument` for 0.
    [[nodiscard]] std::size_t draw(std::size_t n);

    /// Throws `failed_check` unless `right`. `what`: the demand, as a sentence.
    static void demand(bool right, const char* what);
    /// The same by its older name, which is a macro of some engines and systems.
    static void(check)(bool right, const char* what) { demand(right, what); }

    /// Called after every step, until the scenario ends: throws what is wrong. The first such exception
    /// is the schedule's failure; what follows isn't looked at any more. The destructor of a run makes
    /// steps, too: what `invariant` uses beside it is to be declared before the run.
    void always(std::function<void()> invariant) { invariants_.push_back(std::move(invariant)); }

    /// Called between the steps `step` - 1 and `step`, counted from 0; at once if that is over. With
    /// `draw` for the step, something happens at each point of each schedule: a stop, a close, a time-out.
    /// The destructor of a run makes steps, too: what `action` uses is to be declared before the run.
    void at_step(std::size_t step, std::function<void()> action);

    /// How many coroutines have been resumed until now.
    [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

    /// Runs until nothing is ready and no timer is left.
    void run();

    /// What went wrong without an exception in the scenario; empty: nothing.
    const std::string& broken() const noexcept { return broken_; }
    /// After the scenario: what it left behind, as a sentence; empty: nothing.
    std::string left_behind() const;

  private:
    struct planned {
        std::size_t step;
        std::function<void()> action;
    };

    // Its own turn, among those that are ready.
    bool thread_goes_on();

    void turn(weir::detail::parker&, time_point limit) override;
    time_point instant() const noexcept override { return now(); }
    void sleep(weir::detail::parker&, time_point) noexcept override {}

    // Resumes one coroutine, or moves the clock. False: there is neither before `limit`.
    bool step(time_point limit);

    void act();

    // Not to be thrown from here: who drives may be a destructor.
    void examine();
    void break_off(std::string what);

    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    detail::decisions* decisions_;
    const std::size_t most_steps_;
    std::vector<void*> ready_;  // in the order in which they became so
    std::size_t chosen_ = 0;    // which one goes next, from 1; 0: not decided yet
    std::size_t steps_ = 0;
    std::vector<planned> actions_;  // the next one last
    std::size_t next_action_ = never;
    std::vector<std::function<void()>> invariants_;
    std::string broken_;
    bool is_limit_reached_ = false;
    bool is_acting_ = false;  // an action runs, and no coroutine below it
    bool runs_ = false;       // until nothing is ready and no timer is left
    weir::detail::loop_turns turns_;
};

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/world.ipp>
#endif

#endif
