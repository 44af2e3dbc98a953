// weir run, internal: tries the stages of a run one by one, each with several numbers of slots
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

// How long trials take at most. A stage may wait for what only a later one, or the consumer, gives back, and
// that comes when all have been tried. Nothing tells that from a function that is slow.
struct trial_limits {
    duration still;  // nothing has moved in a stage that has worked, nor for 4 times as long as ever
    duration trial;  // each
    duration all = (duration::max)();
    bool leaves_threads = false;  // see profiled_run::most_slots
    std::size_t rounds = 0;       // how often the sources give more, for a stage that has too few items
};

// The items that a stage is tried with pass on to the next stage, and in the end to the consumer: each item
// is worked on once by each stage, as in any run. So nothing is lost, and nothing has to be copied. Of a
// stage that may have several slots the items are divided among its trials. All of this is compiled wherever
// weir.hpp is included: so it is made of numbers.
class stage_trials : public run_profiler {
  public:
    // `slots`: of the trials, upwards, as a slot too many would have an item in its hand; not empty, and
    // there as long as this is.
    stage_trials(std::size_t items, std::span<const std::size_t> concurrencies, trial_limits limits) noexcept
        : items_(items), shares_(concurrencies), limits_(limits) {}

    std::optional<time_point> step(profiled_run& run) final {
        const time_point now = run.instant();
        if (on_ == doing::nothing) {
            begin_ = now;
            on_begin(run);
            for (std::size_t i = 0; i < run.num_stages(); ++i) {
                if (run.can_change_slots(i)) run.set_slots(i, shares_.concurrencies().front());
            }
            begin_stage(run, now);
        }
        while (on_ != doing::nothing && !run.was_interrupted()) {
            if (now - begin_ >= limits_.all) {
                leave_out(run, now);
                break;
            }
            const time_point later = next_look(now);
            if (halts(run, now)) return later;
            if (on_ == doing::feeding) {
                if (feeds(run, now)) return later;
                prepare_trial(run, now);
                continue;
            }
            const stage_activity rest = run.activity(stage_);
            const trial_end end = rest.is_idle ? trial_end::complete : end_of(run, rest, now);
            if (end == trial_end::not_tried) return later;
            go_on(run, rest, end, now);
        }
        return std::nullopt;
    }

  protected:
    // Whether the stage at hand takes nothing.
    bool is_source() const noexcept { return is_source_; }
    std::size_t num_trials(const profiled_run& run, std::size_t stage) const {
        return run.can_change_slots(stage) ? shares_.concurrencies().size() : 1;
    }

  private:
    // What the stage does that is looked at: more items are made for it; it comes to rest, so that each slot
    // has an item in its hand; it is tried; or it passes on what is left.
    enum class doing : std::uint8_t { nothing, feeding, settling, trial, passing };

    // How often is looked.
    static constexpr duration shortest{1'000'000};

    // The trials are about to begin, this one is, and this one is over, or will not be.
    virtual void on_begin(profiled_run&) {}
    virtual void on_trial(const profiled_run& run, std::size_t stage, std::size_t num_slots) = 0;
    virtual void on_result(const profiled_run& run, std::size_t stage, std::size_t place,
                           const profile_trial& trial) = 0;

    void begin_stage(profiled_run& run, time_point now) {
        const stage_figures f = run.figures(stage_);
        is_source_ = f.num_inputs == 0;
        may_grow_ = run.can_change_slots(stage_);
        left_ = all_ = is_source_ ? items_ : f.given;
        most_ = limits_.leaves_threads ? run.max_slots(stage_) : SIZE_MAX;
        trial_ = round_ = 0;
        longest_ = duration(0);
        for (wanted_ = 1; wanted_ < num_trials(run, stage_) && shares_.concurrencies()[wanted_ - 1] < most_;)
            ++wanted_;
        enter(doing::feeding, now);
        if (!next_round(run)) prepare_trial(run, now);
    }
    // Whether the sources give more, as the stage has too few, which go through all stages before it.
    bool next_round(profiled_run& run) {
        const bool is_enough = all_ >= detail::smaller(items_, shares_.enough(wanted_));
        if (is_source_ || !is_fed_ || is_enough || round_++ == limits_.rounds) return false;
        for (std::size_t i = 0; i < stage_; ++i) {
            run.add_capacity(i, items_ + all_ + shares_.concurrencies().back());
            if (run.figures(i).num_inputs == 0) run.admit(i, items_);
        }
        return true;
    }
    // Whether that goes on.
    bool feeds(profiled_run& run, time_point now) {
        bool is_idle = true;
        for (std::size_t i = 0; i < stage_; ++i) is_idle = is_idle && run.activity(i).is_idle;
        const bool is_over = now - began_ >= limits_.trial;
        if (!is_idle && !is_over) return true;
        const std::size_t before = all_;
        left_ = all_ = run.figures(stage_).given;
        if (!is_over && all_ > before && next_round(run)) return true;
        for (std::size_t i = 0; i < stage_; ++i) {
            if (run.figures(i).num_inputs == 0) run.admit(i, 0);
        }
        is_fed_ = is_fed_ && is_idle;
        return false;
    }
    void prepare_trial(profiled_run& run, time_point now) {
        tried_ = detail::smaller(wanted_, shares_.trials(all_));
        if (may_grow_) run.set_slots(stage_, num_slots());
        // For all that comes of one item each; a stage that makes more of them is tried until that is full.
        run.add_capacity(stage_, items_ + all_ + shares_.concurrencies().back());
        before_ = run.figures(stage_);
        on_trial(run, stage_, num_slots());
        enter(doing::settling, now);
    }

    // Exactly when a limit is reached, if that comes first.
    time_point next_look(time_point now) const noexcept {
        time_point next = now + detail::larger(shortest, (now - began_) / 16);
        for (const time_point limit :
             {weir::saturating_add(began_, limits_.trial), weir::saturating_add(begin_, limits_.all)}) {
            if (limit > now) next = detail::smaller(next, limit);
        }
        return next;
    }

    // Whether it is paused: nothing moves then. What was being tried begins anew behind that.
    bool halts(profiled_run& run, time_point now) {
        const bool halts = run.is_halted();
        if (was_halted_ && !halts) {
            before_ = run.figures(stage_);
            if (on_ == doing::trial) run.admit(stage_, let_in_ - run.meter(stage_).begun());
            enter(on_, now);
        }
        return was_halted_ = halts;
    }
    // Of what is not at rest: `not_tried`, which means not yet, or what it has come to.
    trial_end end_of(const profiled_run& run, const stage_activity& rest, time_point now) {
        const time_point last = detail::larger(began_, time_point(duration(rest.since)));
        longest_ = detail::larger(longest_, last - moved_);
        moved_ = last;
        const bool is_over = now - began_ >= limits_.trial;
        const bool is_still = now - last >= detail::larger(limits_.still, 4 * longest_);
        if (!is_over && !is_still) return trial_end::not_tried;
        // Its first invocation may take long: what it needs is not there yet.
        const bool is_new = run.figures(stage_).num_tasks == 0;
        if (!is_over && is_new) return trial_end::not_tried;
        const bool has_stopped = is_still || is_new || now - last >= limits_.trial / 2;
        return has_stopped ? trial_end::stuck : trial_end::time_over;
    }

    void go_on(profiled_run& run, const stage_activity& rest, trial_end end, time_point now) {
        const bool is_stuck = end == trial_end::stuck;
        is_fed_ = is_fed_ && end == trial_end::complete;
        if (on_ == doing::settling && end == trial_end::complete) {
            before_ = run.figures(stage_);
            enter(doing::trial, now);
            let_in_ = share();
            run.admit(stage_, let_in_);
        } else if (on_ == doing::passing) {
            if (end != trial_end::complete) run.admit(stage_, 0);
            next_stage(run, now);
        } else {
            on_ == doing::trial ? conclude(run, rest, end, now) : miss(run, end);
            const bool is_last = ++trial_ == tried_;
            run.admit(stage_, is_last && !is_source_ && !is_stuck ? SIZE_MAX : 0);
            const trial_end why = tried_ < shares_.trials(all_) ? trial_end::no_thread : trial_end::too_few;
            if (is_stuck || is_last) miss_rest(run, is_stuck ? trial_end::not_tried : why);
            if (is_stuck) return next_stage(run, now);
            is_last ? enter(doing::passing, now) : prepare_trial(run, now);
        }
    }
    void next_stage(profiled_run& run, time_point now) {
        if (may_grow_) run.reset_slots(stage_);
        enter(doing::nothing, now);
        if (++stage_ < run.num_stages()) begin_stage(run, now);
    }
    void enter(doing what, time_point now) noexcept {
        on_ = what;
        began_ = moved_ = now;
    }
    // There is no time for what has not been tried yet.
    void leave_out(profiled_run& run, time_point now) {
        if (on_ == doing::trial) {
            conclude(run, run.activity(stage_), trial_end::time_over, now);
            ++trial_;
        }
        for (; stage_ < run.num_stages(); ++stage_, trial_ = 0) {
            may_grow_ = run.can_change_slots(stage_);
            tried_ = 0;
            before_ = run.figures(stage_);
            miss_rest(run, trial_end::not_tried);
        }
        on_ = doing::nothing;
    }
    void miss_rest(const profiled_run& run, trial_end why) {
        for (; trial_ < num_trials(run, stage_); ++trial_) miss(run, why);
    }
    void miss(const profiled_run& run, trial_end end) {
        profile_trial t;
        t.concurrency = num_slots();
        t.end = end;
        on_result(run, stage_, trial_, t);
    }
    std::size_t num_slots() const noexcept {
        if (!may_grow_) return before_.num_slots;
        const std::size_t wanted = shares_.concurrencies()[trial_];
        return trial_ < tried_ ? detail::smaller(wanted, most_) : wanted;
    }

    // With how many items it is tried now.
    std::size_t share() noexcept {
        if (!may_grow_) return is_source_ ? items_ : SIZE_MAX;
        const std::size_t items = shares_.share(trial_, tried_, all_, left_);
        left_ -= items;
        return items;
    }

    void conclude(const profiled_run& run, const stage_activity& rest, trial_end how, time_point now) {
        const stage_figures after = run.figures(stage_);
        const time_point end = rest.is_idle ? time_point(duration(rest.since)) : now;
        const std::uint64_t tasks = after.num_tasks - before_.num_tasks;
        profile_trial t;
        t.end = how;
        t.concurrency = num_slots();
        t.pace = run.meter(stage_).pace();
        t.elapsed = detail::larger(duration(0), end - began_);
        t.num_failures = after.num_failures - before_.num_failures;
        if (tasks > t.num_failures) {
            t.ave_time =
                (after.task_time - before_.task_time) / static_cast<std::int64_t>(tasks - t.num_failures);
        }
        t.num_results = after.results - before_.results;
        // The slots had items in hand before it began; a stage that is tried once has taken none but for
        // this.
        t.num_items = is_source_ ? t.num_results : may_grow_ ? tasks : after.taken;
        // What comes after its end, until this was seen, is no part of it.
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
    doing on_ = doing::nothing;
    time_point begin_{};   // of all
    time_point began_{};   // doing that
    time_point moved_{};   // when something did, as far as is known
    duration longest_{0};  // that nothing did, in this stage
    bool was_halted_ = false;
    bool is_fed_ = true;     // no stage so far has kept an item to itself
    std::size_t round_ = 0;  // of feeding
    std::size_t let_in_ = 0;
    std::size_t stage_ = 0;
    bool is_source_ = false;
    bool may_grow_ = false;
    std::size_t trial_ = 0;
    std::size_t most_ = SIZE_MAX;  // slots
    std::size_t wanted_ = 1;       // how many trials there are threads for
    std::size_t tried_ = 0;        // and items
    std::size_t all_ = 0;          // items that the stage is given
    std::size_t left_ = 0;         // for later trials
    stage_figures before_;
};

}  // namespace weir::detail

#endif
