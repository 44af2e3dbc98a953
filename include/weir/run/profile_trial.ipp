// weir run, internal: bodies of the functions of run/profile_trial.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILE_TRIAL_IPP
#define WEIR_RUN_PROFILE_TRIAL_IPP

#include <weir/run/profile_trial.hpp>

#include <weir/platform/config.hpp>

namespace weir {

WEIR_INLINE std::optional<confidence_interval> profile_trial::speed_up(
    const profile_trial& base) const noexcept {
    if (!pace || !base.pace) return std::nullopt;
    return detail::speed_up(*pace, *base.pace);
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE std::size_t trial_shares::trials(std::size_t items) const noexcept {
    std::size_t n = 1;
    while (n < concurrencies_.size() && items_needed(n + 1) <= items) ++n;
    return n;
}

WEIR_INLINE std::size_t trial_shares::share(std::size_t trial, std::size_t n, std::size_t items,
                                            std::size_t left) const noexcept {
    const double part_of_items = part(trial, n) * static_cast<double>(items) + rounding;
    if (trial + 1 < n) left = detail::smaller(left, static_cast<std::size_t>(part_of_items));
    return left > concurrencies_[trial] ? left - left % concurrencies_[trial] : left;
}

WEIR_INLINE std::size_t trial_shares::items_needed(std::size_t n) const noexcept {
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t least = detail::larger<std::size_t>(10, 4 * concurrencies_[i]);
        most = detail::larger(most, static_cast<double>(least) / part(i, n));
    }
    return static_cast<std::size_t>(most + 1 - rounding);
}

WEIR_INLINE double trial_shares::part(std::size_t trial, std::size_t n) const noexcept {
    double sum = 0;
    for (const std::size_t each : concurrencies_.first(n)) sum += static_cast<double>(each);
    return (1 / static_cast<double>(n) + static_cast<double>(concurrencies_[trial]) / sum) / 2;
}

WEIR_INLINE std::optional<time_point> stage_trials::step(profiled_run& run) {
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

WEIR_INLINE std::size_t stage_trials::num_trials(const profiled_run& run, std::size_t stage) const {
    return run.can_change_slots(stage) ? shares_.concurrencies().size() : 1;
}

WEIR_INLINE void stage_trials::begin_stage(profiled_run& run, time_point now) {
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

WEIR_INLINE bool stage_trials::begin_round(profiled_run& run) {
    const bool is_enough = num_items_ >= detail::smaller(items_, shares_.items_needed(max_trials_));
    if (is_source_ || !inputs_complete_ || is_enough || round_++ == limits_.rounds) return false;
    for (std::size_t i = 0; i < stage_; ++i) {
        // Room for a result of each item of the earlier stages: this stage processes none before its trials.
        run.add_capacity(i, items_ + num_items_ + shares_.concurrencies().back());
        if (run.figures(i).num_inputs == 0) run.admit(i, items_);
    }
    return true;
}

WEIR_INLINE bool stage_trials::is_feeding(profiled_run& run, time_point now) {
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

WEIR_INLINE void stage_trials::prepare_trial(profiled_run& run, time_point now) {
    possible_trials_ = detail::smaller(max_trials_, shares_.trials(num_items_));
    if (can_change_slots_) run.set_slots(stage_, num_slots());
    // Makes room in the queues behind the stage for at least one result of each item of the stage's trials:
    // no later stage takes results meanwhile. A stage that makes more is tried until the room is used up.
    run.add_capacity(stage_, items_ + num_items_ + shares_.concurrencies().back());
    before_ = run.figures(stage_);
    on_trial(run, stage_, num_slots());
    enter(phase::settling, now);
}

WEIR_INLINE time_point stage_trials::next_look(time_point now) const noexcept {
    time_point next = now + detail::larger(shortest, (now - phase_begin_) / 16);
    for (const time_point limit :
         {weir::saturating_add(phase_begin_, limits_.trial), weir::saturating_add(begin_, limits_.all)}) {
        if (limit > now) next = detail::smaller(next, limit);
    }
    return next;
}

WEIR_INLINE bool stage_trials::check_pause(profiled_run& run, time_point now) {
    const bool halts = run.is_halted();
    if (was_halted_ && !halts) {
        before_ = run.figures(stage_);
        if (phase_ == phase::trial) run.admit(stage_, num_admitted_ - run.meter(stage_).begun());
        enter(phase_, now);
    }
    return was_halted_ = halts;
}

WEIR_INLINE trial_end stage_trials::check_end(const profiled_run& run, const stage_activity& rest,
                                              time_point now) {
    const time_point last = detail::larger(phase_begin_, time_point(duration(rest.since)));
    longest_pause_ = detail::larger(longest_pause_, last - last_change_);
    last_change_ = last;
    const bool is_over = now - phase_begin_ >= limits_.trial;
    const bool is_still = now - last >= detail::larger(limits_.still, 4 * longest_pause_);
    if (!is_over && !is_still) return trial_end::not_tried;
    // The first task may take long, as it may prepare data that all later tasks use.
    const bool is_new = run.figures(stage_).num_tasks == 0;
    if (!is_over && is_new) return trial_end::not_tried;
    const bool has_stopped = is_still || is_new || now - last >= limits_.trial / 2;
    return has_stopped ? trial_end::stuck : trial_end::time_over;
}

WEIR_INLINE void stage_trials::end_phase(profiled_run& run, const stage_activity& rest, trial_end end,
                                         time_point now) {
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

WEIR_INLINE void stage_trials::next_stage(profiled_run& run, time_point now) {
    if (can_change_slots_) run.reset_slots(stage_);
    enter(phase::none, now);
    if (++stage_ < run.num_stages()) begin_stage(run, now);
}

WEIR_INLINE void stage_trials::enter(phase next, time_point now) noexcept {
    phase_ = next;
    phase_begin_ = last_change_ = now;
}

WEIR_INLINE void stage_trials::skip_untried(profiled_run& run, time_point now) {
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

WEIR_INLINE void stage_trials::skip_trials(const profiled_run& run, trial_end why) {
    for (; trial_ < num_trials(run, stage_); ++trial_) skip_trial(run, why);
}

WEIR_INLINE void stage_trials::skip_trial(const profiled_run& run, trial_end end) {
    profile_trial t;
    t.concurrency = num_slots();
    t.end = end;
    on_result(run, stage_, trial_, t);
}

WEIR_INLINE std::size_t stage_trials::num_slots() const noexcept {
    if (!can_change_slots_) return before_.num_slots;
    const std::size_t wanted = shares_.concurrencies()[trial_];
    return trial_ < possible_trials_ ? detail::smaller(wanted, max_slots_) : wanted;
}

WEIR_INLINE std::size_t stage_trials::share() noexcept {
    if (!can_change_slots_) return is_source_ ? items_ : SIZE_MAX;
    const std::size_t items = shares_.share(trial_, possible_trials_, num_items_, items_left_);
    items_left_ -= items;
    return items;
}

WEIR_INLINE void stage_trials::end_trial(const profiled_run& run, const stage_activity& rest, trial_end how,
                                         time_point now) {
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
    // The slots took their first items before the trial, so the items taken since then would be too few. A
    // stage with one trial took all of its items for this trial.
    t.num_items = is_source_ ? t.num_results : can_change_slots_ ? tasks : after.taken;
    // Computes `wait_get` anew: the slots' own sums contain the time between the end of the trial and this
    // call.
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

}  // namespace weir::detail

#endif
