// weir insight, internal: bodies of the functions of insight/tune.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNE_IPP
#define WEIR_INSIGHT_TUNE_IPP

#include <weir/insight/tune.hpp>

#include <weir/insight/time_comparison.hpp>
#include <weir/insight/tuning_plan.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::find, std::ranges::count
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir {

namespace detail {

WEIR_INLINE bool has_name(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace detail

WEIR_INLINE tuner::tuner(const tune_budget& budget, const tune_options& options)
    : budget_(budget), options_(options), fixed_slots_(options.fixed), fixed_room_(options.fixed) {
    detail::refuse_if(budget.max_bytes != 0 && budget.item_bytes == 0,
                      "weir: a budget of bytes needs the size of an item (tune_budget::item_bytes)");
    detail::refuse_if(detail::was_negative(budget.max_slots) || detail::was_negative(budget.max_threads) ||
                          detail::was_negative(budget.max_items) || detail::was_negative(budget.max_bytes) ||
                          detail::was_negative(budget.item_bytes),
                      "weir: a budget of tune was negative; 0 is no limit");
    detail::refuse_if(!detail::is_finite(options.worthwhile) || options.worthwhile <= 0,
                      "weir: tune needs to know from which increase on a change is worthwhile: a share above "
                      "0, as 0.05 (tune_options::worthwhile)");
    detail::refuse_if(options.fewest_items < 2 || detail::was_negative(options.fewest_items),
                      "weir: tune measures at least 2 items in a lap (tune_options::fewest_items)");
    detail::refuse_if(options.most_slots == 0 || options.most_capacity == 0,
                      "weir: a stage needs a slot, and a queue room for an item (tune_options)");
    detail::refuse_if(options.most_slots > detail::most_slots || detail::was_negative(options.most_capacity),
                      "weir: a tuner gives a stage at most 100000 slots, and a queue no negative room "
                      "(tune_options::most_slots, most_capacity)");
}

WEIR_INLINE void tuner::set_limits(const pipeline_stats& now, const recording& lap, std::size_t workers) {
    limits_.num_slots = budget_.max_slots;
    limits_.items = budget_.max_items;
    if (budget_.max_bytes != 0) {
        const std::size_t items = detail::larger<std::size_t>(budget_.max_bytes / budget_.item_bytes, 1);
        limits_.items = limits_.items == 0 ? items : detail::smaller(limits_.items, items);
    }
    limits_.most_slots = options_.most_slots;
    limits_.most_capacity = options_.most_capacity;
    for (const std::string& each : options_.fixed) static_cast<void>(lap.settings.stage(each));
    const std::size_t n = now.stages.size();
    const bool is_first_step = limits_.fixed_slots.empty();
    limits_.fixed_slots.assign(n, false);
    limits_.fixed_room.assign(n, false);
    limits_.per_item.assign(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
        const stage_stats& each = now.stages[i];
        const bool is_twice = std::ranges::count(now.stages, each.name, &stage_stats::name) > 1;
        if (is_first_step && each.outputs.empty() && each.concurrency == 1) fixed_slots_.push_back(each.name);
        const stage_settings& set = lap.settings.stages[i];
        limits_.fixed_slots[i] = is_twice || set.role != stage_role::function || !set.is_resizable ||
                                 detail::has_name(fixed_slots_, each.name);
        limits_.fixed_room[i] = is_twice || each.outputs.empty() || detail::has_name(fixed_room_, each.name);
        if (lap.num_items != 0)
            limits_.per_item[i] = detail::ratio_of(lap.stages[i].num_tasks, lap.num_items);
    }
    limits_.pool = options_.pool_stage.empty() ? 0 : lap.settings.stage(options_.pool_stage).pool;
    if (workers == 0 || is_pool_fixed_) {
        limits_.threads = 0;
    } else if (limits_.threads == 0) {
        limits_.threads = budget_.max_threads != 0 ? budget_.max_threads : workers;
    }
}

WEIR_INLINE const tuning_step& tuner::decide(const pipeline_stats& now, std::size_t workers) {
    detail::check_same_run(before_, now);
    tuning_step next;
    next.lap = log_.size() + 1;
    next.at = now.elapsed;
    const pipeline_stats lap = now - before_;
    next.rate = lap.rate();
    next.sentence = "lap " + std::to_string(next.lap) + ": " + units::rate(next.rate);
    if (lap.num_items < options_.fewest_items) {
        next.sentence += "; too few items to judge: the lap goes on";
    } else {
        recording times;
        std::string why_not;
        try {
            times = record_of(lap);
        } catch (const std::invalid_argument& e) {
            why_not = e.what();
        }
        if (why_not.empty()) {
            set_limits(now, times, workers);
            if (limits_.threads != 0) times.settings.pools[limits_.pool] = workers;
            decide_for(next, now, lap, times);
            before_ = now;
        } else {
            next.sentence += "; left alone: " + why_not;
        }
    }
    log_.push_back(std::move(next));
    return log_.back();
}

WEIR_INLINE void tuner::begin_anew(const pipeline_stats& now) {
    origin_ = now;
    reference_.reset();
    target_.reset();
    trial_.reset();
    rejected_.clear();
    is_cautious_ = false;
    has_tuned_ = false;
    settles_ = false;
    next_plan_ = 0;
    interval_ = 1;
}

WEIR_INLINE void tuner::decide_for(tuning_step& next, const pipeline_stats& now, const pipeline_stats& lap,
                                   const recording& times) {
    const pipeline_settings fitting = detail::fitted(times.settings, limits_);
    if (!target_ && !detail::are_same(fitting, times.settings)) {
        next.sentence += "; exceeds the budget";
        trial_.reset();
        target_ = fitting;
    }
    if (target_) return approach(next, now, lap, times.settings);
    if (reference_ && !trial_) {
        const std::size_t other = detail::find_other_times(*reference_, times);
        if (other < times.stages.size()) {
            next.outcome = tuning_outcome::outdated;
            next.sentence += detail::concat(
                {"; the times of '", times.settings.stages[other].name, "' have changed: begins anew"});
            return begin_anew(now);
        }
    }
    if (trial_ && !judge(next, times, lap.num_items)) {
        if (target_) approach(next, now, lap, times.settings);
        return;
    }
    if (reference_ && detail::find_other_times(*reference_, times) < times.stages.size()) origin_ = before_;
    recording all = record_of(now - origin_);
    all.settings = times.settings;
    reference_ = all;
    if (settles_ || next.lap < next_plan_) {
        next.sentence += settles_ ? "; settles" : "; left alone";
        settles_ = false;
        return;
    }
    plan(next, all, detail::noise_of(times, lap.num_items));
    if (target_) approach(next, now, lap, times.settings);
}

// Judges the changes that are measured (`trial_`). Returns whether they are kept.
WEIR_INLINE bool tuner::judge(tuning_step& next, const recording& times, std::uint64_t num_items) {
    const double noise = detail::noise_of(times, num_items);
    const trial& t = *trial_;
    ++trial_->laps;
    next.predicted = t.predicted;
    const std::string measured =
        t.has_to_stay ? ", before " + units::rate(t.rate) : ", predicted " + units::rate(t.predicted);
    const double least = t.rate * (t.has_to_stay ? 1 - detail::larger(0.02, noise) : 1.02 - noise / 2);
    const bool is_as_predicted = next.rate >= 0.95 * t.predicted && next.rate >= least;
    const bool is_bad = next.rate < t.rate * (0.9 - noise);
    if (is_as_predicted || (t.laps >= 2 && next.rate >= least)) {
        next.outcome = tuning_outcome::kept;
        next.sentence += measured + ": kept";
        has_tuned_ = true;
        interval_ = 1;
        trial_.reset();
        return true;
    }
    if (t.laps < 2 && !is_bad) {
        next.outcome = tuning_outcome::open;
        next.sentence += measured + ": measures another lap";
        return false;
    }
    next.outcome = tuning_outcome::taken_back;
    next.sentence += measured + ": taken back";
    rejected_.push_back(times.settings);
    target_ = t.before;
    trial_.reset();
    is_cautious_ = true;
    settles_ = true;
    interval_ = detail::smaller<std::uint64_t>(2 * interval_, 16);
    next_plan_ = next.lap + 1 + interval_;
    return false;
}

WEIR_INLINE pipeline_settings tuner::best_single(const pipeline_settings& best,
                                                 const recording& times) const {
    pipeline_settings found = times.settings;
    double most = 0;
    const auto consider = [&](const pipeline_settings& one) {
        if (detail::are_same(one, times.settings) ||
            !detail::is_within(detail::resources_of(one, limits_), limits_))
            return;
        if (detail::has_settings(rejected_, one)) return;
        const double rate = detail::planned_rate(one, times);
        if (rate <= most) return;
        most = rate;
        found = one;
    };
    for (std::size_t i = 0; i < best.stages.size(); ++i) {
        pipeline_settings one = times.settings;
        one.stages[i].concurrency = best.stages[i].concurrency;
        consider(one);
        one = times.settings;
        one.stages[i].capacity = best.stages[i].capacity;
        consider(one);
    }
    pipeline_settings one = times.settings;
    one.pools = best.pools;
    consider(one);
    return found;
}

WEIR_INLINE void tuner::plan(tuning_step& next, const recording& times, double noise) {
    const double today = detail::planned_rate(times.settings, times);
    const auto leave_alone = [&](const std::string& why) {
        next.sentence += "; left alone: " + why;
        next_plan_ = next.lap + interval_;
        interval_ = detail::smaller<std::uint64_t>(2 * interval_, 16);
    };
    // A model that is much slower than the run, as of a `traverse` with a slow source, would free used slots.
    if (today < 0.7 * next.rate) return leave_alone("its times don't explain its rate");
    pipeline_settings best = detail::best_settings(times, limits_);
    if (is_cautious_ || detail::has_settings(rejected_, best)) best = best_single(best, times);
    const auto gain_of = [&](const pipeline_settings& s) {
        return today > 0 ? detail::planned_rate(s, times) / today - 1 : 0;
    };
    double gain = gain_of(best);
    bool frees = false;
    // Once changes were kept, and the times of many items are known, smaller gains are worthwhile, too.
    const bool refines = has_tuned_ && times.num_items >= 40 * options_.fewest_items;
    if (gain < (refines ? options_.worthwhile / 2 : options_.worthwhile)) {
        best = detail::reduced(times.settings, best);
        gain = gain_of(best);
        const detail::resources now = detail::resources_of(times.settings, limits_);
        const detail::resources then = detail::resources_of(best, limits_);
        // Room is cheap: to lower it is only worthwhile if much room is saved.
        const bool saves_room = now.places >= then.places + 8 && 4 * then.places <= 3 * now.places;
        frees = gain > -0.01 && !detail::has_settings(rejected_, best) &&
                (then.num_slots < now.num_slots || then.threads < now.threads || saves_room);
        if (!frees) {
            return leave_alone("no change is predicted to bring " +
                               units::whole_percent(options_.worthwhile) + " %");
        }
    }
    const bool has_to_stay = gain < options_.worthwhile;
    // If the rate that is predicted without changes is close to the measured one, the predicted one is the
    // better base: the measured rate varies by chance.
    const double distance = detail::larger(next.rate - today, today - next.rate);
    const double rate = distance < noise * next.rate ? today : next.rate;
    trial_ = trial{times.settings, rate, rate * (1 + gain), has_to_stay, 0};
    next.predicted = trial_->predicted;
    next.sentence += "; predicted " + units::rate(next.predicted) + (frees ? " with less" : "");
    target_ = best;
}

WEIR_INLINE void tuner::approach(tuning_step& next, const pipeline_stats& now, const pipeline_stats& lap,
                                 const pipeline_settings& current) {
    const detail::resources used = detail::resources_in_use(current, limits_, now, lap);
    pipeline_settings reached = current;
    next.changes = detail::changes_towards(*target_, reached, limits_, used);
    std::string text;
    for (const setting_change& each : next.changes) {
        text += (text.empty() ? "; changes " : ", ") + describe(each, current);
    }
    next.sentence += text;
    if (detail::are_same(reached, *target_)) {
        target_.reset();
    } else {
        next.sentence += "; the rest follows when removed slots have ended";
    }
}

WEIR_INLINE void tuner::refused(const setting_change& change, std::string_view why) {
    tuning_step& last = log_.back();
    std::erase(last.changes, change);
    last.sentence += "; refused: " + std::string(why);
    if (change.kind == change_kind::concurrency) fixed_slots_.push_back(change.stage);
    if (change.kind == change_kind::capacity) fixed_room_.push_back(change.stage);
    if (change.kind == change_kind::threads) is_pool_fixed_ = true;
    target_.reset();
    if (last.changes.empty()) trial_.reset();
    next_plan_ = 0;
}

}  // namespace weir

#endif
