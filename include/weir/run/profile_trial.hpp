// weir run: trials: a profile runs the stages of a run one by one, each with several numbers of slots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILE_TRIAL_HPP
#define WEIR_RUN_PROFILE_TRIAL_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for SIZE_MAX, std::uint64_t, std::uint8_t
#include <optional>  // for std::optional
#include <span>      // for std::span

namespace weir {

/// How a trial ended.
enum class trial_end : std::uint8_t {
    complete,   ///< all items of the trial were processed, or there were none, or the next queue is full
    time_over,  ///< the time limit of the trial was reached; the figures are of the items until then
    stuck,      ///< no slot changed its state any more: a function may wait for a later stage, or the program
    too_few,    ///< not begun: trials with fewer slots have used up the items of the stage
    no_thread,  ///< not begun: the stage's functions would have left no thread of their executor free
    not_tried,  ///< not begun: an earlier trial was stuck, or the time limit of all trials was reached
};

/// The figures of a stage that ran alone.
struct profile_trial {
    std::size_t concurrency = 1;     ///< the number of slots (workers of the stage)
    duration elapsed{};              ///< from the start to the last result, or to the limit that was reached
    std::uint64_t num_items = 0;     ///< items taken; by a source: made
    std::uint64_t num_results = 0;   ///< items put
    std::uint64_t num_failures = 0;  ///< items that failed
    duration ave_time{};             ///< the average time of a successful call of the function
    slot_times times;                ///< the sum over all slots; time in `runnable` means too few threads

    /// The share of the time in which no slot waited for an item. Near 1, the stage itself limits the rate;
    /// else the stage could take items faster. None for a source, for a stage with several inputs,
    /// and if no time has passed.
    std::optional<double> readiness;

    trial_end end = trial_end::complete;  ///< why the trial ended

    /// How fast items were taken while every slot had one, so that start and end don't count. None: there
    /// were fewer than four items for each slot.
    std::optional<item_pace> pace = std::nullopt;

    /// \returns items taken per second (by a source: made), from `pace` if there is one, else from `elapsed`.
    [[nodiscard]] double rate() const noexcept {
        return pace ? pace->rate() : detail::per_second(num_items, elapsed);
    }
    /// \returns a confidence interval of the rate divided by the rate of `base`, maybe of another stage.
    ///          If the interval contains 1, no difference is shown. None if one of the two trials has no pace
    ///          or took no time.
    [[nodiscard]] std::optional<confidence_interval> speed_up(const profile_trial& base) const noexcept;

    [[nodiscard]] friend bool operator==(const profile_trial&, const profile_trial&) = default;
};

namespace detail {

// How the items of a stage are divided among its trials: half of them evenly, the other half in proportion to
// the numbers of slots.
class trial_shares {
  public:
    // `concurrencies`: ascending and not empty; outlives this object.
    explicit trial_shares(std::span<const std::size_t> concurrencies) noexcept
        : concurrencies_(concurrencies) {}

    std::span<const std::size_t> concurrencies() const noexcept { return concurrencies_; }

    // Returns how many trials are possible with `items` items, beginning with the fewest slots; at least 1.
    std::size_t trials(std::size_t items) const noexcept;
    // Returns the number of items for one of `n` trials. `items`: all items of the stage; `left`: the items
    // that no earlier trial got. The last trial gets the rest. Each number above that
    // of the slots is rounded down to a multiple of the number of slots: so some items may get no trial.
    std::size_t share(std::size_t trial, std::size_t n, std::size_t items, std::size_t left) const noexcept;

    // Returns how many items the stage needs for the first `n` trials, so that each slot gets at least four
    // items, and each trial at least ten.
    std::size_t items_needed(std::size_t n) const noexcept;

  private:
    static constexpr double rounding = 1e-6;  // more than any floating-point error: 2.9999999 counts as 3

    // Returns the part of the items, from 0 to 1, for one of `n` trials.
    double part(std::size_t trial, std::size_t n) const noexcept;

    std::span<const std::size_t> concurrencies_;
};

// Limits of trials. A stage may wait for something that only a later stage or the consumer gives back: its
// trial would never end. A profiler can't distinguish such a stage from a slow one.
struct trial_limits {
    // A trial ends if no slot of its stage has changed its state for this time, and for 4 times the longest
    // time between two earlier changes. A stage that has finished no task yet has the time limit `trial`
    // only.
    duration still;
    duration trial;                    // the time limit of one trial
    duration all = (duration::max)();  // the time limit of all trials together
    bool leaves_threads = false;       // limits slots to `max_slots`, which leaves threads for other stages
    std::size_t rounds = 0;            // how often sources may make more items for a stage with too few
};

// Admits items to one stage at a time, and measures it. The results go on to the next stage, and in the end
// to the consumer: each stage works once on each item, as in any run. So no item is lost or copied. A stage
// that can have several slots has several trials, among which its items are divided.
class stage_trials : public run_profiler {
  public:
    // `items`: how many items each source makes for the trials, and in each of `trial_limits::rounds`.
    // `concurrencies`: the numbers of slots to try, ascending and not empty; outlives this object.
    stage_trials(std::size_t items, std::span<const std::size_t> concurrencies, trial_limits limits) noexcept
        : items_(items), shares_(concurrencies), limits_(limits) {}

    WEIR_INLINE std::optional<time_point> step(profiled_run& run) final;

  protected:
    // Whether the current stage has no input.
    bool is_source() const noexcept { return is_source_; }
    // Returns how many trials the stage has: 1 if its number of slots is fixed.
    std::size_t num_trials(const profiled_run& run, std::size_t stage) const;

  private:
    // The phases of a stage. feeding: the sources make more items for the stage; settling: each slot takes an
    // item and waits to be admitted, so that all begin together; trial: items are admitted and measured;
    // draining: the stage processes the items that are left, for the next stage. none: no stage is tried.
    enum class phase : std::uint8_t { none, feeding, settling, trial, draining };

    // The shortest time between two steps, unless a limit of time comes sooner.
    static constexpr duration shortest{1'000'000};

    // `on_begin` is called before all trials, `on_trial` before a trial, and `on_result` after a trial, also
    // if the trial was skipped. `index`: that of the trial's number of slots in the `concurrencies`; 0 if the
    // stage has one trial.
    virtual void on_begin(profiled_run&) {}
    virtual void on_trial(const profiled_run& run, std::size_t stage, std::size_t num_slots) = 0;
    virtual void on_result(const profiled_run& run, std::size_t stage, std::size_t index,
                           const profile_trial& trial) = 0;

    // Begins with the stage at index `stage_`: finds out how many items and trials it has.
    void begin_stage(profiled_run& run, time_point now);
    // If the stage has too few items, and the sources may make more (`trial_limits::rounds`), lets the
    // sources make more items. These pass all earlier stages. Returns whether the sources make more.
    bool begin_round(profiled_run& run);
    // Returns whether the phase `feeding` continues. Maybe begins another round; else stops the sources.
    bool is_feeding(profiled_run& run, time_point now);
    // Sets the number of slots of the next trial, makes room for its results, and enters the phase
    // `settling`.
    void prepare_trial(profiled_run& run, time_point now);

    // When to call `step` again: after a 16th of the time since the phase began, but at least after 1 ms, and
    // not later than a time limit.
    time_point next_look(time_point now) const noexcept;

    // Returns whether the run is paused. After a pause the current phase begins anew.
    bool check_pause(profiled_run& run, time_point now);
    // For a stage that is not idle: how its phase ends; `not_tried`: the phase doesn't end yet.
    trial_end check_end(const profiled_run& run, const stage_activity& rest, time_point now);

    // The phase has ended as `end` says: begins the next phase, the next trial, or the next stage.
    void end_phase(profiled_run& run, const stage_activity& rest, trial_end end, time_point now);
    // Restores the stage's concurrency, and begins with the next stage.
    void next_stage(profiled_run& run, time_point now);
    void enter(phase next, time_point now) noexcept;  // begins the phase
    // The time limit of all trials is reached: reports the other trials as not tried.
    void skip_untried(profiled_run& run, time_point now);
    // Reports the current trial and all later trials of the stage as not made.
    void skip_trials(const profiled_run& run, trial_end why);
    // Reports the current trial without figures, as it did not begin.
    void skip_trial(const profiled_run& run, trial_end end);
    std::size_t num_slots() const noexcept;  // in the current trial

    // How many items the next trial gets.
    std::size_t share() noexcept;

    // Reports the figures of the current trial, which has ended as `how` says, to `on_result`.
    void end_trial(const profiled_run& run, const stage_activity& rest, trial_end how, time_point now);

    const std::size_t items_;  // see the constructor
    const trial_shares shares_;
    const trial_limits limits_;
    phase phase_ = phase::none;
    time_point begin_{};  // the start of the profile
    time_point phase_begin_{};
    time_point last_change_{};       // the last known change of a slot's state; at first, begin of the phase
    duration longest_pause_{0};      // the longest time between two known changes
    bool was_halted_ = false;        // the run was paused at the last call of `check_pause`
    bool inputs_complete_ = true;    // every earlier stage has passed on all of its items
    std::size_t round_ = 0;          // rounds of the phase `feeding` of this stage so far
    std::size_t num_admitted_ = 0;   // items admitted for the current trial
    std::size_t stage_ = 0;          // the index of the current stage
    bool is_source_ = false;         // the current stage has no input: it makes the items of its trial
    bool can_change_slots_ = false;  // the current stage may have several slots, and so several trials
    std::size_t trial_ = 0;          // the index of the current trial of the stage
    std::size_t max_slots_ = SIZE_MAX;  // more slots could occupy all threads: see `trial_limits`
    std::size_t max_trials_ = 1;        // trials for which there are threads, at least one
    std::size_t possible_trials_ = 0;   // trials for which there are threads and items
    std::size_t num_items_ = 0;         // for all trials of this stage
    std::size_t items_left_ = 0;        // for later trials of this stage
    stage_figures before_;              // the figures of the stage when the trial began
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/profile_trial.ipp>
#endif

#endif
