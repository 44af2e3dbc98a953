// weir run, internal: tries the stages of a run one by one, each with several numbers of slots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_TRIALS_HPP
#define WEIR_RUN_STAGE_TRIALS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/rehearsal.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for SIZE_MAX, std::int64_t
#include <optional>  // for std::optional
#include <span>      // for std::span

namespace weir::detail {

// The items that a stage is tried with pass on to the next stage, and in the end to the consumer: each item
// is worked on once by each stage, as in any run. So nothing is lost, and nothing has to be copied. Of a
// stage that may have several slots the items are divided among its trials. All of this is compiled wherever
// weir.hpp is included: so it is made of numbers.
class stage_trials : public rehearsal {
  public:
    // `slots`: of the trials, upwards, as a slot too many would have an item in its hand; not empty, and
    // there as long as this is.
    stage_trials(std::size_t items, std::span<const std::size_t> slots) noexcept
        : items_(items), slots_(slots) {}

    std::optional<time_point> step(rehearsed_run& run) final {
        const time_point now = run.instant();
        if (on_ == doing::nothing) {
            begins(run);
            for (std::size_t i = 0; i < run.num_stages(); ++i) {
                if (run.takes_slots(i)) run.set_slots(i, slots_.front());
            }
            begin_stage(run, now);
        }
        while (on_ != doing::nothing && !run.is_cut_short()) {
            const stage_rest rest = run.rest(stage_);
            const duration spent = now - began_;
            if (!rest.is_at_rest && spent < longest) return now + detail::larger(shortest, spent / 16);
            go_on(run, rest, now);
        }
        return std::nullopt;
    }

  protected:
    // Whether the stage at hand takes nothing.
    bool is_source() const noexcept { return is_source_; }
    std::size_t num_trials(const rehearsed_run& run, std::size_t stage) const {
        return run.takes_slots(stage) ? slots_.size() : 1;
    }

  private:
    // What the stage does that is looked at: it comes to rest, so that each slot has an item in its hand; it
    // is tried; or it passes on what is left.
    enum class doing : std::uint8_t { nothing, settling, trial, passing };

    // How often is looked, and how long a trial may take: it ends then with what it has, so that a stage
    // which waits for what only a later one can give ends as well.
    static constexpr duration shortest{1'000'000};
    static constexpr duration longest{10'000'000'000};

    // The trials are about to begin, this one is, and this one is over.
    virtual void begins(rehearsed_run&) {}
    virtual void begins(const rehearsed_run& run, std::size_t stage, std::size_t slots) = 0;
    virtual void found(const rehearsed_run& run, std::size_t stage, std::size_t place,
                       const profile_trial& trial) = 0;

    void begin_stage(rehearsed_run& run, time_point now) {
        const stage_figures f = run.figures(stage_);
        is_source_ = f.num_inputs == 0;
        may_grow_ = run.takes_slots(stage_);
        left_ = all_ = is_source_ ? items_ : f.given;
        trial_ = 0;
        prepare_trial(run, now);
    }
    void prepare_trial(rehearsed_run& run, time_point now) {
        if (may_grow_) run.set_slots(stage_, slots_[trial_]);
        // For all that comes of one item each; a stage that makes more of them is tried until that is full.
        run.make_room(stage_, items_ + all_ + slots_.back());
        before_ = run.figures(stage_);
        begins(run, stage_, num_slots());
        enter(doing::settling, now);
    }

    void go_on(rehearsed_run& run, const stage_rest& rest, time_point now) {
        if (on_ == doing::settling) {
            before_ = run.figures(stage_);
            enter(doing::trial, now);
            run.let_in(stage_, share());
        } else if (on_ == doing::trial) {
            conclude(run, rest, now);
            const bool is_last = ++trial_ == num_trials(run, stage_);
            run.let_in(stage_, is_last && !is_source_ ? SIZE_MAX : 0);
            is_last ? enter(doing::passing, now) : prepare_trial(run, now);
        } else {
            if (may_grow_) run.reset_slots(stage_);
            enter(doing::nothing, now);
            if (++stage_ < run.num_stages()) begin_stage(run, now);
        }
    }
    void enter(doing what, time_point now) noexcept {
        on_ = what;
        began_ = now;
    }
    std::size_t num_slots() const noexcept { return may_grow_ ? slots_[trial_] : before_.num_slots; }

    // With how many items it is tried now. Half of all are divided evenly among the trials, the other half in
    // proportion to their slots, and the last one has what is left; where there are enough, each slot gets as
    // many.
    std::size_t share() noexcept {
        if (!may_grow_) return is_source_ ? items_ : SIZE_MAX;
        const std::size_t slots = slots_[trial_];
        std::size_t items = left_;
        if (trial_ + 1 < slots_.size()) {
            double sum = 0;
            for (const std::size_t each : slots_) sum += static_cast<double>(each);
            const double part = 1 / static_cast<double>(slots_.size()) + static_cast<double>(slots) / sum;
            items = detail::smaller(left_, static_cast<std::size_t>(part / 2 * static_cast<double>(all_)));
        }
        if (items > slots) items -= items % slots;
        left_ -= items;
        return items;
    }

    void conclude(const rehearsed_run& run, const stage_rest& rest, time_point now) {
        const stage_figures after = run.figures(stage_);
        const time_point end = rest.is_at_rest ? time_point(duration(rest.since)) : now;
        const std::uint64_t tasks = after.num_tasks - before_.num_tasks;
        profile_trial t;
        t.concurrency = num_slots();
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
        const duration slots = t.elapsed * static_cast<std::int64_t>(t.concurrency);
        t.times.wait_get = detail::larger(duration(0), slots - t.times.total());
        if (before_.num_inputs == 1 && t.elapsed > duration(0)) {
            const duration behind = rest.is_starved ? now - end : duration(0);
            const auto starved = static_cast<double>((after.starved - before_.starved - behind).count());
            const double part = starved / static_cast<double>(t.elapsed.count());
            t.readiness = part > 1 ? 0 : part < 0 ? 1 : 1 - part;
        }
        found(run, stage_, trial_, t);
    }

    const std::size_t items_;
    const std::span<const std::size_t> slots_;
    doing on_ = doing::nothing;
    time_point began_{};  // doing that
    std::size_t stage_ = 0;
    bool is_source_ = false;
    bool may_grow_ = false;
    std::size_t trial_ = 0;
    std::size_t all_ = 0;   // items that the stage is given
    std::size_t left_ = 0;  // for later trials
    stage_figures before_;
};

}  // namespace weir::detail

#endif
