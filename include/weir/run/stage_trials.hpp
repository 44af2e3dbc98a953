// weir run, internal: profiles a run: tries its stages one by one, each with several numbers of slots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_TRIALS_HPP
#define WEIR_RUN_STAGE_TRIALS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/run_interfaces.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for SIZE_MAX, std::uint8_t
#include <optional>  // for std::optional
#include <span>      // for std::span

namespace weir::detail {

// Time limits of trials. A stage may wait for something that only a later stage or the consumer gives back,
// and so for the end of the profile. This can't be distinguished from a slow function.
struct trial_limits {
    // A trial ends if nothing has changed for this time, and for 4 times the longest pause before.
    duration still;
    duration trial;  // of one trial
    duration all = (duration::max)();
    bool leaves_threads = false;  // see profiled_run::max_slots
    std::size_t rounds = 0;       // how often sources may give more items to a stage with too few
};

// Admits items to one stage at a time, and measures it. The results go on to the next stage, and in the end
// to the consumer: each stage works once on each item, as in any run. So no item is lost or copied. A stage
// that can have several slots has several trials, among which its items are divided.
class stage_trials : public run_profiler {
  public:
    // `concurrencies`: the numbers of slots to try, ascending and not empty; outlives this object.
    stage_trials(std::size_t items, std::span<const std::size_t> concurrencies, trial_limits limits) noexcept
        : items_(items), shares_(concurrencies), limits_(limits) {}

    std::optional<time_point> step(profiled_run& run) final;

  protected:
    // Whether the current stage has no input.
    bool is_source() const noexcept { return is_source_; }
    std::size_t num_trials(const profiled_run& run, std::size_t stage) const;

  private:
    // Of the current stage. feeding: the sources make more items for it; settling: until each slot holds an
    // item and waits; trial: admitted items are measured; draining: passes on the items that are left.
    enum class phase : std::uint8_t { none, feeding, settling, trial, draining };

    // The shortest time between two steps.
    static constexpr duration shortest{1'000'000};

    // Called before all trials, before one, and after one, also if it was skipped.
    virtual void on_begin(profiled_run&) {}
    virtual void on_trial(const profiled_run& run, std::size_t stage, std::size_t num_slots) = 0;
    virtual void on_result(const profiled_run& run, std::size_t stage, std::size_t place,
                           const profile_trial& trial) = 0;

    void begin_stage(profiled_run& run, time_point now);
    // If the stage has too few items, lets the sources give more, through all stages before it. Returns
    // whether.
    bool begin_round(profiled_run& run);
    // Whether the phase `feeding` continues.
    bool is_feeding(profiled_run& run, time_point now);
    void prepare_trial(profiled_run& run, time_point now);

    // When to call the next step; at a time limit if that is earlier.
    time_point next_look(time_point now) const noexcept;

    // Returns whether the run is paused. After a pause the current phase begins anew.
    bool check_pause(profiled_run& run, time_point now);
    // For a stage that is not idle: how its trial ends; `not_tried`: it doesn't end yet.
    trial_end check_end(const profiled_run& run, const stage_activity& rest, time_point now);

    void end_phase(profiled_run& run, const stage_activity& rest, trial_end end, time_point now);
    void next_stage(profiled_run& run, time_point now);
    void enter(phase what, time_point now) noexcept;
    // The time limit of all trials is reached.
    void skip_untried(profiled_run& run, time_point now);
    void skip_trials(const profiled_run& run, trial_end why);
    void skip_trial(const profiled_run& run, trial_end end);
    std::size_t num_slots() const noexcept;

    // How many items the next trial gets.
    std::size_t share() noexcept;

    void end_trial(const profiled_run& run, const stage_activity& rest, trial_end how, time_point now);

    const std::size_t items_;
    const trial_shares shares_;
    const trial_limits limits_;
    phase phase_ = phase::none;
    time_point begin_{};  // of the profile
    time_point phase_begin_{};
    time_point last_change_{};   // of a slot of the stage, as far as is known
    duration longest_pause_{0};  // between two changes
    bool was_halted_ = false;
    bool inputs_complete_ = true;  // every earlier stage has passed on all of its items
    std::size_t round_ = 0;        // of feeding
    std::size_t num_admitted_ = 0;
    std::size_t stage_ = 0;
    bool is_source_ = false;
    bool can_change_slots_ = false;
    std::size_t trial_ = 0;
    std::size_t max_slots_ = SIZE_MAX;
    std::size_t max_trials_ = 1;       // for which there are threads
    std::size_t possible_trials_ = 0;  // for which there are threads and items
    std::size_t num_items_ = 0;        // for all trials
    std::size_t items_left_ = 0;       // for later trials
    stage_figures before_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/stage_trials.ipp>
#endif

#endif
