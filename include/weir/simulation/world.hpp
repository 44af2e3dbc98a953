// weir simulation: an executor on virtual time, on which a schedule decides the order of all steps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_WORLD_HPP
#define WEIR_SIMULATION_WORLD_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>

#include <coroutine>      // for std::coroutine_handle
#include <cstddef>        // for std::size_t
#include <cstdint>        // for std::uint32_t, std::uint64_t, UINT32_MAX
#include <exception>      // for std::exception_ptr
#include <functional>     // for std::function
#include <map>            // for std::multimap
#include <span>           // for std::span
#include <stdexcept>      // for std::runtime_error
#include <string>         // for std::string
#include <string_view>    // for std::string_view
#include <unordered_map>  // for std::unordered_map
#include <utility>        // for std::move, std::swap
#include <vector>         // for std::vector

namespace weir::simulation {

/// How the next step is chosen, if several are possible.
enum class strategy {
    /// Each possible next step is equally likely. Finds faults that many schedules show.
    random,
    /// Each coroutine gets a random priority when it is first seen; the one with the highest priority runs.
    /// At `explore_options::depth` - 1 random steps, the coroutine that would run next gets a priority below
    /// all random ones. Finds faults that need a few decisions in a certain order. For n coroutines, k steps
    /// and a fault of depth d, a schedule finds the fault with a probability of at least 1 in n * k^(d-1). A
    /// schedule that becomes much longer than first come, first served continues with `random`: a coroutine
    /// that polls might starve the one that it waits for. Source: Burckhardt, Kothari, Musuvathi,
    /// Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs" (PCT), ASPLOS
    /// 2010.
    priorities,
    /// All schedules, one after the other, for small scenarios. For larger ones,
    /// `explore_options::deviations` bounds how many decisions differ from first come, first served. Source
    /// of the bound: Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", POPL 2011.
    exhaustive,
};

namespace detail {

// One decision: for option number `chosen`, from 0, of `of` options. `of` is at least 2: with one option
// there is no decision.
struct decision {
    std::uint32_t chosen;
    std::uint32_t of;
    friend bool operator==(const decision&, const decision&) = default;
};

// The decisions of one schedule. The first decisions may be given. The later decisions follow a strategy, or
// choose option 0, which means first come, first served.
class decisions {
  public:
    // Set how decisions after the given ones are made, for all schedules that begin from now on.
    void be_random() noexcept { kind_ = kind::random; }
    void be_first() noexcept { kind_ = kind::first; }
    void be_by_priority(unsigned depth) noexcept;

    // Begins a new schedule. `length`: its expected number of steps, for `be_by_priority`.
    void begin(std::uint64_t seed, std::span<const std::uint32_t> given = {}, std::size_t length = 0);

    // Chooses one of `n` options and returns its index; `n` is at least 1.
    std::size_t choose(std::size_t n);

    // Chooses what continues: a ready coroutine, or the scenario's thread. `options`: the addresses of those
    // that can continue, at least one. Returns the index in `options` of the chosen one.
    std::size_t choose(std::span<void* const> options);

    const std::vector<decision>& made() const noexcept { return made_; }

    // A hash of the decisions: equal for equal schedules; for different ones with a probability of 1 in 2^32.
    std::uint32_t digest() const noexcept;

  private:
    enum class kind { first, random, priorities };

    // With `be_by_priority`, a schedule of `much_longer` times the expected steps continues as `random`.
    static constexpr std::uint64_t much_longer = 8;

    // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016)
    std::uint64_t draw() noexcept;

    // Records the decision for option `chosen` of `n`, and returns it. A given decision may be too large, as
    // earlier decisions change the number of options: limits it to `n` - 1.
    std::size_t record(std::size_t chosen, std::size_t n);

    std::uint64_t& priority_of(void* option);
    std::size_t highest(std::span<void* const> options);

    kind kind_ = kind::first;
    unsigned depth_ = 1;
    std::vector<std::uint32_t> given_;
    std::vector<decision> made_;
    std::uint64_t random_ = 1;
    std::unordered_map<void*, std::uint64_t> priorities_;
    std::vector<std::uint64_t> changes_;   // the steps at which a priority becomes one of the lowest
    std::uint64_t step_ = 0;               // the current step, at most end_of_priorities_
    std::uint64_t end_of_priorities_ = 0;  // from this step on, all options are equally likely
};

// The ready coroutines, in the order of their posts, side by side, as `decisions` needs them.
class ready_list {
  public:
    explicit ready_list(std::size_t most) {
        places_.reserve(2 * most + 1);  // push_back() then needs no memory for `most` coroutines
        places_.push_back(nullptr);
    }
    bool empty() const noexcept { return first_ == places_.size(); }
    std::size_t size() const noexcept { return places_.size() - first_; }
    std::span<void* const> all() const noexcept { return std::span(places_).subspan(first_); }
    // The same, behind one more.
    std::span<void* const> all_behind(void* other) noexcept {
        places_[first_ - 1] = other;
        return std::span(places_).subspan(first_ - 1);
    }
    void push_back(void* h) {
        if (places_.size() == places_.capacity() && first_ > places_.size() / 2) move_to_front();
        places_.push_back(h);
    }
    // Removes coroutine number `i`, and returns it. Cost: moves those before it, or those behind it if these
    // are fewer; constant for the first.
    void* take(std::size_t i) noexcept;

  private:
    void move_to_front() noexcept;

    std::vector<void*> places_;
    std::size_t first_ = 1;  // the place of the first coroutine: at least one place before it is free
};

// Decisions as text: `3:1 17:2` are pairs of a decision's number and the chosen option. Decisions for option
// 0 are left out; "0:0": all decisions are for option 0, first come, first served.
std::string to_text(const std::vector<std::uint32_t>& chosen);

// The reverse of to_text(). Errors: `std::invalid_argument` if the text has no such form.
std::vector<std::uint32_t> from_text(std::string_view text);

// The text of an exception and of those nested in it, such as the stage's exception in a pipeline_failure.
std::string text_of(const std::exception_ptr& error);

}  // namespace detail

/// A check of a scenario has failed: thrown by `world::demand` and `check_identities`.
class failed_check : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The world in which `explore` runs a scenario (a test) under one schedule: an executor on virtual time.
/// Which of the ready coroutines runs next is a decision of the schedule. After every step, all channels with
/// waiters are checked, and the functions given to `always` are called.
///
/// Threads: the scenario's thread runs all coroutines. While a coroutine blocks this thread in a wait of the
///          library, the world runs the other coroutines on a thread of its own. No other thread may post.
///          Stages with an executor of their own run in the world, too. If a wait of the scenario's thread
///          could end, a decision says whether this thread or a ready coroutine continues first.
/// Errors: as on `virtual_time`: `deadlock_error` in a wait that can't end, and after `most_steps` steps.
/// Lifetime: that of the scenario's call.
/// Cost: memory grows if more than 256 coroutines are ready at once; out of memory then: std::terminate.
class world final : public weir::detail::virtual_executor, weir::detail::loop_turns::loop {
  public:
    /// Called by `explore` for each schedule. A schedule with more than `most_steps` steps fails.
    explicit world(detail::decisions& decisions, std::size_t most_steps = 100'000);

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h.address()); }

    WEIR_INLINE void add(timer& t) noexcept override;
    WEIR_INLINE void cancel(timer& t) noexcept override;
    WEIR_INLINE bool drive(weir::detail::parker& done, time_point limit) override;

    /// \returns a number below `n`, as a decision of the schedule: a replay returns the same number, and
    ///          `strategy::exhaustive` tries all numbers.
    /// \param n  from 1 to 2^32 - 1.
    /// Errors: `std::invalid_argument` for another number.
    [[nodiscard]] std::size_t draw(std::size_t n);

    /// Throws `failed_check` unless `right`. `what`: the expectation, as a sentence.
    static void demand(bool right, const char* what);
    /// The same under an older name, which some engines and systems define as a macro.
    static void(check)(bool right, const char* what) { demand(right, what); }

    /// Calls `invariant` after every step, until the scenario ends. The first exception is the failure of the
    /// schedule; after that step `invariant` is not called any more. The destructor of a run makes steps,
    /// too: declare other objects that `invariant` uses before the run.
    void always(std::function<void()> invariant) { invariants_.push_back(std::move(invariant)); }

    /// Calls `action` before step number `step`, counted from 0; at once if that many steps were made before;
    /// never if the schedule ends earlier.
    /// If `step` comes from `draw`, the action (a stop, a close, a time-out) is tried at all points of a
    /// schedule. The destructor of a run makes steps, too: declare objects that `action` uses before the run.
    /// An exception of `action` is the failure of the schedule; the scenario goes on. Only an `action` that
    /// is called at once throws to the caller of `at_step`.
    void at_step(std::size_t step, std::function<void()> action);

    /// \returns the number of steps so far. Each resumption of any coroutine in this world is one step.
    [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

    /// Runs until no coroutine is ready, and the timers that are left never fire, or only observe a run
    /// (`timer_order::before_all`). `deadlock_error` if a coroutine then still blocks its thread.
    void run();

    /// \returns the text of the first failure that an action, a check after a step, or `most_steps` steps
    ///          have caused; empty: none.
    const std::string& broken() const noexcept { return broken_; }
    /// Called after the scenario. \returns a sentence about coroutines that are still ready; empty: none.
    std::string left_behind() const;

  private:
    // Decides whether the scenario's thread, whose wait could end, continues before the next ready coroutine
    // runs.
    bool thread_goes_on();

    WEIR_INLINE void turn(weir::detail::parker&, time_point limit) override;
    time_point instant() const noexcept override { return now(); }
    void sleep(weir::detail::parker&, time_point) noexcept override {}

    // Resumes a ready coroutine; if none is ready, first moves the clock to the next timer. False: there is
    // no ready coroutine, and no timer before `limit`. True without a resumption if an action has resumed all
    // ready coroutines. Throws `deadlock_error` after `most_steps` steps.
    bool step(time_point limit);

    // The next two functions record failures by break_off() instead of throwing them: a destructor may have
    // called drive().

    // Calls the actions that are due before the next step: see `at_step`.
    void act();
    // Checks channels and invariants.
    void examine();
    // Records the first failure in `broken_`.
    void break_off(std::string what);

    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    detail::decisions* decisions_;
    const std::size_t most_steps_;
    detail::ready_list ready_{256};  // a post that has to allocate may end the program
    std::size_t chosen_ = 0;         // 1 + the index of the next coroutine; 0: not decided yet
    std::size_t steps_ = 0;
    std::multimap<std::size_t, std::function<void()>> actions_;  // by the number of their step
    std::size_t next_action_ = never;
    std::vector<std::function<void()>> invariants_;
    std::string broken_;
    bool is_limit_reached_ = false;
    bool is_acting_ = false;          // an action runs, outside of all coroutines
    bool runs_ = false;               // run() goes on: a coroutine is ready, or a timer is left
    weir::detail::loop_turns turns_;  // lets another thread run the world while a coroutine blocks its thread
};

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/world.ipp>
#endif

#endif
