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

#include <algorithm>   // for std::lower_bound, std::rotate
#include <coroutine>   // for std::coroutine_handle
#include <cstddef>     // for std::size_t
#include <exception>   // for std::current_exception
#include <functional>  // for std::function
#include <span>        // for std::span
#include <stdexcept>   // for std::invalid_argument, std::runtime_error
#include <string>      // for std::string
#include <utility>     // for std::exchange, std::move
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
    explicit world(detail::decisions& decisions, std::size_t most_steps = 100'000)
        : decisions_(&decisions), most_steps_(most_steps) {
        ready_.reserve(256);  // as posting can't fail
    }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h.address()); }

    void add(timer& t) noexcept override {
        if (!clock_.add(t)) post(t.waiter());
    }
    void cancel(timer& t) noexcept override {
        if (clock_.cancel(t)) post(t.waiter());
    }
    bool drive(weir::detail::parker& done, time_point limit) override {
        // On top of an action, below which no coroutine is; unless one waits on another thread for its turn.
        const bool acts = std::exchange(is_acting_, false) && !turns_.any_blocked();
        if (turns_.are_below() && !acts) {
            turns_.drive(*this, done, limit);
            return true;
        }
        is_limit_reached_ = false;
        while ((!done.is_set() || !thread_goes_on()) && !is_limit_reached_) {
            acts ? turn(done, limit) : turns_.drive(*this, done, limit);
        }
        is_acting_ = acts;
        return true;
    }

    /// A number below `n` that is part of the schedule: drawn, replayed and shrunk with it, and where all
    /// schedules are tried, every number is.
    /// \param n  at least 1.
    /// Errors: `std::invalid_argument` for 0.
    [[nodiscard]] std::size_t draw(std::size_t n) {
        if (n == 0) throw std::invalid_argument("weir: draw(0): there is no number below 0");
        return decisions_->choose(n);
    }

    /// Throws `failed_check` unless `right`. `what`: the demand, as a sentence.
    static void demand(bool right, const char* what) {
        if (!right) throw failed_check(what);
    }
    /// The same by its older name, which is a macro of some engines and systems.
    static void(check)(bool right, const char* what) { demand(right, what); }

    /// Called after every step, until the scenario ends: throws what is wrong. The first such exception
    /// is the schedule's failure; what follows isn't looked at any more. The destructor of a run makes
    /// steps, too: what `invariant` uses beside it is to be declared before the run.
    void always(std::function<void()> invariant) { invariants_.push_back(std::move(invariant)); }

    /// Called between the steps `step` - 1 and `step`, counted from 0; at once if that is over. With
    /// `draw` for the step, something happens at each point of each schedule: a stop, a close, a time-out.
    /// The destructor of a run makes steps, too: what `action` uses is to be declared before the run.
    void at_step(std::size_t step, std::function<void()> action) {
        if (step <= steps_) return action();
        // Of one step, those that came before stay nearer to the end.
        const auto place = std::lower_bound(actions_.begin(), actions_.end(), step,
                                            [](const planned& a, std::size_t at) { return a.step > at; });
        actions_.insert(place, {step, std::move(action)});
        next_action_ = actions_.back().step;
    }

    /// How many coroutines have been resumed until now.
    [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

    /// Runs until nothing is ready and no timer is left.
    void run() {
        weir::detail::parker nobody;
        for (runs_ = true; runs_;) turns_.drive(*this, nobody, (time_point::max)());
    }

    /// What went wrong without an exception in the scenario; empty: nothing.
    const std::string& broken() const noexcept { return broken_; }
    /// After the scenario: what it left behind, as a sentence; empty: nothing.
    std::string left_behind() const {
        if (ready_.empty()) return {};
        return std::to_string(ready_.size()) + (ready_.size() == 1 ? " coroutine was" : " coroutines were") +
               " still ready to run when the scenario ended";
    }

  private:
    struct planned {
        std::size_t step;
        std::function<void()> action;
    };

    // Its own turn, among those that are ready.
    bool thread_goes_on() {
        if (ready_.empty()) return true;
        ready_.push_back(this);  // then first: an insert there has g++ 12 warn of a null pointer
        std::rotate(ready_.begin(), ready_.end() - 1, ready_.end());
        const std::size_t next = decisions_->choose(std::span<void* const>(ready_));
        ready_.erase(ready_.begin());
        if (next == 0) return true;
        chosen_ = next;
        return false;
    }

    void turn(weir::detail::parker&, time_point limit) override {
        if (step(limit)) return;
        if (limit != (time_point::max)()) {
            if (limit > now()) clock_.set(limit);
            is_limit_reached_ = true;
        } else if (runs_ && !turns_.any_blocked()) {
            runs_ = false;
        } else {
            throw_deadlock(waiters());
        }
    }
    time_point instant() const noexcept override { return now(); }
    void sleep(weir::detail::parker&, time_point) noexcept override {}

    // Resumes one coroutine, or moves the clock. False: there is neither before `limit`.
    bool step(time_point limit) {
        if (ready_.empty() && !clock_.advance(limit, [this](std::coroutine_handle<> h) { post(h); })) {
            return false;
        }
        if (steps_ >= most_steps_) {
            break_off("the schedule has " + std::to_string(most_steps_) +
                      " steps and goes on; raise most_steps if it should");
            users().allow_leftovers();
            throw deadlock_error("weir: " + broken_);
        }
        if (steps_ == next_action_) act();
        if (ready_.empty()) return true;  // the action ran it
        std::size_t next = std::exchange(chosen_, 0);
        next = next != 0 && next <= ready_.size() ? next - 1
                                                  : decisions_->choose(std::span<void* const>(ready_));
        const auto h = std::coroutine_handle<>::from_address(ready_[next]);
        ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(next));
        ++steps_;
        resume(h);
        if (broken_.empty()) examine();
        return true;
    }

    void act() {
        while (!actions_.empty() && actions_.back().step == steps_) {
            const std::function<void()> action = std::move(actions_.back().action);
            actions_.pop_back();
            next_action_ = actions_.empty() ? never : actions_.back().step;
            is_acting_ = true;
            try {
                action();
            } catch (...) {
                is_acting_ = false;
                throw;
            }
            is_acting_ = false;
        }
    }

    // Not to be thrown from here: who drives may be a destructor.
    void examine() {
        std::string what = weir::detail::contradiction_in(places_);
        if (!what.empty()) break_off(std::move(what));
        for (const auto& invariant : invariants_) {
            try {
                invariant();
            } catch (...) {
                break_off(weir::detail::error_text(std::current_exception()));
            }
        }
    }
    void break_off(std::string what) {
        if (broken_.empty()) broken_ = "after step " + std::to_string(steps_) + ": " + std::move(what);
    }

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

#endif
