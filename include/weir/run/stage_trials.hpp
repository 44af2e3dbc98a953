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
#include <cstdint>   // for SIZE_MAX, std::int64_t
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

    std::optional<time_point> step(profiled_run& run) final {
        const time_point now = run.current_time();
        if (phase_ == phase::none) {
            begin_ = now;
            on_begin(run);
            for (std::size_t i = 0; i < run.num_stages(); ++i) {
                if (run.can_change_slots(i)) run.set_slots(i, shares_.concurrencies().front());
            }
            begin_stage(run, now);
        }
        while (phase_ != phase::none && !run.was_interrupted()) {
            if (now - begin_ >= limits_.all) {
                skip_untried(run, now);
                break;
            }
            const time_point later = next_look(now);
            if (check_pause(run, now)) return later;
            if (phase_ == phase::feeding) {
                if (is_feeding(run, now)) return later;
                prepare_trial(run, now);
                continue;
            }
            const stage_activity rest = run.activity(stage_);
            const trial_end end = rest.is_idle ? trial_end::complete : check_end(run, rest, now);
            if (end == trial_end::not_tried) return later;
            end_phase(run, rest, end, now);
        }
        return std::nullopt;
    }

  protected:
    // Whether the current stage has no input.
    bool is_source() const noexcept { return is_source_; }
    std::size_t num_trials(const profiled_run& run, std::size_t stage) const {
        return run.can_change_slots(stage) ? shares_.concurrencies().size() : 1;
    }

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

    void begin_stage(profiled_run& run, time_point now) {
        const stage_figures f = run.figures(stage_);
        is_source_ = f.num_inputs == 0;
        can_change_slots_ = run.can_change_slots(stage_);
        items_left_ = num_items_ = is_source_ ? items_ : f.given;
        max_slots_ = limits_.leaves_threads ? run.max_slots(stage_) : SIZE_MAX;
        trial_ = round_ = 0;
        longest_pause_ = duration(0);
        for (max_trials_ = 1;
             max_trials_ < num_trials(run, stage_) && shares_.concurrencies()[max_trials_ - 1] < max_slots_;)
            ++max_trials_;
        enter(phase::feeding, now);
        if (!begin_round(run)) prepare_trial(run, now);
    }
    // If the stage has too few items, lets the sources give more, through all stages before it. Returns
    // whether.
    bool begin_round(profiled_run& run) {
        const bool is_enough = num_items_ >= detail::smaller(items_, shares_.enough(max_trials_));
        if (is_source_ || !inputs_complete_ || is_enough || round_++ == limits_.rounds) return false;
        for (std::size_t i = 0; i < stage_; ++i) {
            run.add_capacity(i, items_ + num_items_ + shares_.concurrencies().back());
            if (run.figures(i).num_inputs == 0) run.admit(i, items_);
        }
        return true;
    }
    // Whether the phase `feeding` continues.
    bool is_feeding(profiled_run& run, time_point now) {
        bool is_idle = true;
        for (std::size_t i = 0; i < stage_; ++i) is_idle = is_idle && run.activity(i).is_idle;
        const bool is_over = now - phase_begin_ >= limits_.trial;
        if (!is_idle && !is_over) return true;
        const std::size_t before = num_items_;
        items_left_ = num_items_ = run.figures(stage_).given;
        if (!is_over && num_items_ > before && begin_round(run)) return true;
        for (std::size_t i = 0; i < stage_; ++i) {
            if (run.figures(i).num_inputs == 0) run.admit(i, 0);
        }
        inputs_complete_ = inputs_complete_ && is_idle;
        return false;
    }
    void prepare_trial(profiled_run& run, time_point now) {
        possible_trials_ = detail::smaller(max_trials_, shares_.trials(num_items_));
        if (can_change_slots_) run.set_slots(stage_, num_slots());
        // Room for one result of each item. A stage that makes more is tried until the room is used up.
        run.add_capacity(stage_, items_ + num_items_ + shares_.concurrencies().back());
        before_ = run.figures(stage_);
        on_trial(run, stage_, num_slots());
        enter(phase::settling, now);
    }

    // When to call the next step; at a time limit if that is earlier.
    time_point next_look(time_point now) const noexcept {
        time_point next = now + detail::larger(shortest, (now - phase_begin_) / 16);
        for (const time_point limit :
             {weir::saturating_add(phase_begin_, limits_.trial), weir::saturating_add(begin_, limits_.all)}) {
            if (limit > now) next = detail::smaller(next, limit);
        }
        return next;
    }

    // Returns whether the run is paused. After a pause the current phase begins anew.
    bool check_pause(profiled_run& run, time_point now) {
        const bool halts = run.is_halted();
        if (was_halted_ && !halts) {
            before_ = run.figures(stage_);
            if (phase_ == phase::trial) run.admit(stage_, num_admitted_ - run.meter(stage_).begun());
            enter(phase_, now);
        }
        return was_halted_ = halts;
    }
    // For a stage that is not idle: how its trial ends; `not_tried`: it doesn't end yet.
    trial_end check_end(const profiled_run& run, const stage_activity& rest, time_point now) {
        const time_point last = detail::larger(phase_begin_, time_point(duration(rest.since)));
        longest_pause_ = detail::larger(longest_pause_, last - last_change_);
        last_change_ = last;
        const bool is_over = now - phase_begin_ >= limits_.trial;
        const bool is_still = now - last >= detail::larger(limits_.still, 4 * longest_pause_);
        if (!is_over && !is_still) return trial_end::not_tried;
        // The first task may take long, as it may prepare what all later ones use.
        const bool is_new = run.figures(stage_).num_tasks == 0;
        if (!is_over && is_new) return trial_end::not_tried;
        const bool has_stopped = is_still || is_new || now - last >= limits_.trial / 2;
        return has_stopped ? trial_end::stuck : trial_end::time_over;
    }

    void end_phase(profiled_run& run, const stage_activity& rest, trial_end end, time_point now) {
        const bool is_stuck = end == trial_end::stuck;
        inputs_complete_ = inputs_complete_ && end == trial_end::complete;
        if (phase_ == phase::settling && end == trial_end::complete) {
            before_ = run.figures(stage_);
            enter(phase::trial, now);
            num_admitted_ = share();
            run.admit(stage_, num_admitted_);
        } else if (phase_ == phase::draining) {
            if (end != trial_end::complete) run.admit(stage_, 0);
            next_stage(run, now);
        } else {
            phase_ == phase::trial ? end_trial(run, rest, end, now) : skip_trial(run, end);
            const bool is_last = ++trial_ == possible_trials_;
            run.admit(stage_, is_last && !is_source_ && !is_stuck ? SIZE_MAX : 0);
            const trial_end why =
                possible_trials_ < shares_.trials(num_items_) ? trial_end::no_thread : trial_end::too_few;
            if (is_stuck || is_last) skip_trials(run, is_stuck ? trial_end::not_tried : why);
            if (is_stuck) return next_stage(run, now);
            is_last ? enter(phase::draining, now) : prepare_trial(run, now);
        }
    }
    void next_stage(profiled_run& run, time_point now) {
        if (can_change_slots_) run.reset_slots(stage_);
        enter(phase::none, now);
        if (++stage_ < run.num_stages()) begin_stage(run, now);
    }
    void enter(phase what, time_point now) noexcept {
        phase_ = what;
        phase_begin_ = last_change_ = now;
    }
    // The time limit of all trials is reached.
    void skip_untried(profiled_run& run, time_point now) {
        if (phase_ == phase::trial) {
            end_trial(run, run.activity(stage_), trial_end::time_over, now);
            ++trial_;
        }
        for (; stage_ < run.num_stages(); ++stage_, trial_ = 0) {
            can_change_slots_ = run.can_change_slots(stage_);
            possible_trials_ = 0;
            before_ = run.figures(stage_);
            skip_trials(run, trial_end::not_tried);
        }
        phase_ = phase::none;
    }
    void skip_trials(const profiled_run& run, trial_end why) {
        for (; trial_ < num_trials(run, stage_); ++trial_) skip_trial(run, why);
    }
    void skip_trial(const profiled_run& run, trial_end end) {
        profile_trial t;
        t.concurrency = num_slots();
        t.end = end;
        on_result(run, stage_, trial_, t);
    }
    std::size_t num_slots() const noexcept {
        if (!can_change_slots_) return before_.num_slots;
        const std::size_t wanted = shares_.concurrencies()[trial_];
        return trial_ < possible_trials_ ? detail::smaller(wanted, max_slots_) : wanted;
    }

    // How many items the next trial gets.
    std::size_t share() noexcept {
        if (!can_change_slots_) return is_source_ ? items_ : SIZE_MAX;
        const std::size_t items = shares_.share(trial_, possible_trials_, num_items_, items_left_);
        items_left_ -= items;
        return items;
    }

    void end_trial(const profiled_run& run, const stage_activity& rest, trial_end how, time_point now) {
        const stage_figures after = run.figures(stage_);
        const time_point end = rest.is_idle ? time_point(duration(rest.since)) : now;
        const std::uint64_t tasks = after.num_tasks - before_.num_tasks;
        profile_trial t;
        t.end = how;
        t.concurrency = num_slots();
        t.pace = run.meter(stage_).pace();
        t.elapsed = detail::larger(duration(0), end - phase_begin_);
        t.num_failures = after.num_failures - before_.num_failures;
        if (tasks > t.num_failures) {
            t.ave_time =
                (after.task_time - before_.task_time) / static_cast<std::int64_t>(tasks - t.num_failures);
        }
        t.num_results = after.results - before_.results;
        // The slots took their items before the trial. A stage with one trial took items only for this one.
        t.num_items = is_source_ ? t.num_results : can_change_slots_ ? tasks : after.taken;
        // Leaves out the time between the end of the trial and this call.
        t.times = after.times - before_.times;
        t.times.off = t.times.wait_get = duration(0);
        const duration all = t.elapsed * static_cast<std::int64_t>(t.concurrency);
        t.times.wait_get = detail::larger(duration(0), all - t.times.total());
        if (before_.num_inputs == 1 && t.elapsed > duration(0)) {
            const duration behind = rest.is_starved ? now - end : duration(0);
            const auto starved = static_cast<double>((after.starved - before_.starved - behind).count());
            const double part = starved / static_cast<double>(t.elapsed.count());
            t.readiness = part > 1 ? 0 : part < 0 ? 1 : 1 - part;
        }
        on_result(run, stage_, trial_, t);
    }

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

#endif
