// weir insight, internal: bodies of the functions of insight/predict.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_WHAT_IF_IPP
#define WEIR_INSIGHT_WHAT_IF_IPP

#include <weir/insight/predict.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::swap

namespace weir {

namespace detail {

inline constexpr std::size_t most_places = 1'000'000'000;

// \returns the value of a change, a whole number from 1 to 10^9. Throws std::invalid_argument for others.
// `what`: the noun for the message.
WEIR_INLINE std::size_t changed_count(const setting_change& change, const char* what) {
    if (!is_finite(change.value) || change.value < 1 || change.value > static_cast<double>(most_places) ||
        !are_equal(change.value, static_cast<double>(static_cast<std::size_t>(change.value)))) {
        const std::string where = change.stage.empty() ? "" : concat({" for stage '", change.stage, "'"});
        throw std::invalid_argument(
            concat({"weir: a change needs a whole number of ", what, " from 1 to 10^9", where}));
    }
    return static_cast<std::size_t>(change.value);
}

WEIR_INLINE void demand_role(const stage_settings& stage, stage_role role, const char* what) {
    if (stage.role == role) return;
    throw std::invalid_argument(concat({"weir: stage '", stage.name, "' has no ", what, " to change"}));
}

WEIR_INLINE void demand_pool(const pipeline_settings& settings, std::size_t pool) {
    if (pool < settings.pools.size()) return;
    throw std::invalid_argument("weir: there is no pool number " + std::to_string(pool));
}

// \returns " for a, b": the stages whose functions this thread pool calls; empty if it calls all functions.
WEIR_INLINE std::string users_of(std::size_t pool, const pipeline_settings& settings) {
    std::string names;
    bool has_others = false;
    for (const stage_settings& each : settings.stages) {
        if (each.role != stage_role::function && each.role != stage_role::source) continue;
        if (each.pool == pool) names += (names.empty() ? " for " : ", ") + each.name;
        has_others = has_others || each.pool != pool;
    }
    return has_others ? names : std::string();
}

// The capacity that is tried instead of `capacity`: a still larger one hardly ever brings more.
WEIR_INLINE std::size_t much_room(std::size_t capacity) {
    return larger<std::size_t>(16, 4 * smaller(capacity, most_places / 4));
}

}  // namespace detail

WEIR_INLINE pipeline_settings with_change(pipeline_settings settings, const setting_change& change,
                                          const recording& from) {
    detail::refuse_if(settings.stages.empty(), "weir: there is no stage to change");
    switch (change.kind) {
        case change_kind::faster:
            if (!detail::is_finite(change.value) || change.value < 0 || change.value > 1) {
                throw std::invalid_argument(
                    detail::concat({"weir: how much faster stage '", change.stage,
                                    "' is must be the share of its time that is saved: from 0 to 1, where "
                                    "0.5 is half the time"}));
            }
            settings.stage(change.stage).time_factor *= 1 - change.value;
            break;
        case change_kind::concurrency:
            detail::demand_role(settings.stage(change.stage), stage_role::function, "slots");
            settings.stage(change.stage).concurrency = detail::changed_count(change, "slots");
            break;
        case change_kind::capacity:
            if (!change.stage.empty()) {
                settings.stage(change.stage).capacity = detail::changed_count(change, "places");
                break;
            }
            for (stage_settings& each : settings.stages)
                each.capacity = detail::larger(each.capacity, detail::changed_count(change, "places"));
            break;
        case change_kind::batch_size:
            detail::demand_role(settings.stage(change.stage), stage_role::aggregate, "batch size");
            settings.stage(change.stage).batch_size = detail::changed_count(change, "items");
            break;
        case change_kind::completion_order:
            detail::demand_role(settings.stage(change.stage), stage_role::function, "order");
            settings.stage(change.stage).output_order = output_order::completion;
            break;
        case change_kind::threads:
            detail::demand_pool(settings, change.pool);
            settings.pools[change.pool] = detail::changed_count(change, "threads");
            break;
        case change_kind::consumer: {
            if (!detail::is_finite(change.value) || change.value < 0) {
                throw std::invalid_argument("weir: the time of the consumer must not be negative");
            }
            const double today = from.stages.empty() ? 0 : detail::mean_seconds(from.stages.back());
            if (change.value > 0 && today <= 0) {
                throw std::invalid_argument(
                    "weir: the consumer takes no time in this recording, so another time can't be predicted");
            }
            settings.stages.back().time_factor = today > 0 ? change.value / today : 0;
            break;
        }
        case change_kind::source:
            settings.stages.front().time_factor = 0;
            break;
        case change_kind::max_bytes:
            if (settings.stage(change.stage).byte_room == 0) {
                throw std::invalid_argument(detail::concat(
                    {"weir: the queue behind stage '", change.stage, "' has no limit of bytes to change"}));
            }
            settings.stage(change.stage).byte_room = 0;
            break;
    }
    return settings;
}

WEIR_INLINE std::string describe(const setting_change& change, const pipeline_settings& before) {
    const std::string now = units::fixed(change.value, 0);
    const std::string_view s_instead = now == "1" ? " instead of " : "s instead of ";
    const std::string room = detail::concat({"room for ", now, now == "1" ? " item" : " items"});
    const auto of_stage = [&change](std::initializer_list<std::string_view> what) {
        return detail::concat({change.stage, change.stage.empty() ? "" : ": ", detail::concat(what)});
    };
    const auto stage = [&]() -> const stage_settings& { return before.stage(change.stage); };
    switch (change.kind) {
        case change_kind::faster:
            return of_stage({units::fixed(100 * change.value, 0), " % less time"});
        case change_kind::concurrency:
            return of_stage({now, " slot", s_instead, std::to_string(stage().concurrency)});
        case change_kind::capacity:
            if (change.stage.empty()) return "every queue: " + room;
            return of_stage({room, " behind it instead of ", std::to_string(stage().capacity)});
        case change_kind::batch_size:
            return of_stage({"batches of ", now, " instead of ", std::to_string(stage().batch_size)});
        case change_kind::completion_order:
            return of_stage({"results as they are finished, instead of in order"});
        case change_kind::threads:
            detail::demand_pool(before, change.pool);
            return detail::concat({now, " thread", s_instead, std::to_string(before.pools[change.pool]),
                                   detail::users_of(change.pool, before)});
        case change_kind::consumer:
            if (change.value <= 0) return "a consumer that takes no time";
            return "a consumer that takes " +
                   units::time(duration(detail::nearest<std::int64_t>(change.value * 1e9)));
        case change_kind::source:
            return "a source that takes no time";
        case change_kind::max_bytes:
            return of_stage({"no limit of bytes behind it, which has room for about ",
                             std::to_string(stage().byte_room), " of its items"});
    }
    return {};
}

WEIR_INLINE std::vector<setting_change> usual_changes(const recording& from) {
    std::vector<setting_change> all;
    const auto add = [&all](change_kind kind, const std::string& stage, double value, std::size_t pool = 0) {
        all.push_back({kind, stage, value, pool});
    };
    // Leaves out a number above `most`, which with_change() or check_settings() would refuse.
    const auto add_number = [&add](change_kind kind, const std::string& stage, std::size_t number,
                                   std::size_t most = detail::most_places, std::size_t pool = 0) {
        if (number <= most) add(kind, stage, static_cast<double>(number), pool);
    };
    const std::vector<stage_settings>& stages = from.settings.stages;
    std::size_t most_room = 0;
    for (std::size_t i = 0; i < stages.size() && i < from.stages.size(); ++i) {
        const stage_settings& each = stages[i];
        const bool takes_time = detail::mean_seconds(from.stages[i]) > 0;
        if (each.role == stage_role::consumer && takes_time) add(change_kind::consumer, {}, 0);
        if (each.role == stage_role::source && takes_time) add(change_kind::source, {}, 0);
        if (each.role == stage_role::function && takes_time) {
            add(change_kind::faster, each.name, 0.5);
            if (each.is_resizable)
                add_number(change_kind::concurrency, each.name, 2 * each.concurrency, detail::most_slots);
            if (each.output_order == output_order::input && each.concurrency > 1)
                add(change_kind::completion_order, each.name, 0);
        }
        if (each.role == stage_role::aggregate) {
            add_number(change_kind::batch_size, each.name, 2 * each.batch_size);
            if (each.batch_size > 1) add_number(change_kind::batch_size, each.name, each.batch_size / 2);
        }
        if (each.role != stage_role::consumer && detail::much_room(each.capacity) > each.capacity) {
            add_number(change_kind::capacity, each.name, detail::much_room(each.capacity));
            most_room = detail::larger(most_room, detail::much_room(each.capacity));
        }
        if (each.byte_room != 0) add(change_kind::max_bytes, each.name, 0);
    }
    if (most_room != 0) add_number(change_kind::capacity, {}, most_room);
    for (std::size_t i = 0; i < from.settings.pools.size(); ++i) {
        const std::size_t threads = from.settings.pools[i];
        if (threads != 0) add_number(change_kind::threads, {}, 2 * threads, detail::most_places, i);
    }
    return all;
}

namespace detail {

WEIR_INLINE std::string why_refused(const recording& from, const what_if_result& result,
                                    const what_if_options& options) {
    for (std::size_t i = 0; i < from.stages.size(); ++i) {
        const recorded_stage& each = from.stages[i];
        if (each.tasks.empty() || each.in_sequence || each.num_tasks >= options.fewest_tasks) continue;
        return concat({"stage '", from.settings.stages[i].name, "' has only ", std::to_string(each.num_tasks),
                       " recorded invocation", each.num_tasks == 1 ? "; let the" : "s; let the",
                       " run go on until each stage has at least ", std::to_string(options.fewest_tasks)});
    }
    if (result.today.rate <= 0) {
        return concat({"its simulation ended when the consumer had got ",
                       std::to_string(result.today.num_items), " items, of which the first ",
                       std::to_string(options.simulation.skipped), " don't count"});
    }
    if (result.measured <= 0) return {};
    const double error = mean_rate(result.today) / result.measured - 1;
    const double distance = larger(error, -error);
    if (distance <= options.tolerance) return {};
    // If times vary much, a run of this length may well have the measured rate.
    if (result.today.low <= result.measured && result.measured <= result.today.high) return {};
    return concat(
        {"I can't explain this run: by its times it should have been ", units::fixed(100 * distance, 0),
         error > 0 ? " % faster than it was. Likely something outside slowed it down: too few "
                     "processors, other programs, a stage whose time depends on the load, or time "
                     "that the library itself needs for very short tasks"
                   : " % slower than it was. Likely its times changed while it ran, or too few items "
                     "have passed"});
}

WEIR_INLINE what_if_result result_of_today(const std::vector<setting_change>& changes, const recording& from,
                                           const what_if_options& options) {
    refuse_if(!(options.tolerance >= 0), "weir: the tolerance of what_if must be 0 or more; 0.05 is 5 %");
    refuse_if(was_negative(options.fewest_tasks), "weir: the fewest_tasks of what_if were negative");
    what_if_result result;
    result.measured = from.rate;
    result.today = predict(from.settings, from, options.simulation);
    result.refused = why_refused(from, result, options);
    for (const setting_change& each : changes) check_settings(with_change(from.settings, each, from));
    return result;
}

WEIR_INLINE void add_effects(what_if_result& result, const std::vector<setting_change>& changes,
                             const recording& from, const prediction& today, const predict_options& options) {
    result.overhead = from.stages.front().overhead;
    std::vector<predicted_change> effects(changes.size());
    const double elements = elements_per_item(from.settings);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const pipeline_settings changed = with_change(from.settings, changes[i], from);
        const prediction p = predict(changed, from, in_whole_waves(options, changed, from));
        const double scale = elements_per_item(changed) / elements;
        predicted_change& next = effects[i];
        next = {changes[i], p.rate, p.low, p.high, 0, {}};
        if (today.rate > 0) next.gain = scale * p.rate / today.rate - 1;
        for (std::size_t k = 0; k < p.resampled.size() && k < today.resampled.size(); ++k) {
            const double before = today.resampled[k];
            next.gains.push_back(before > 0 ? scale * p.resampled[k] / before - 1 : 0);
        }
        // An insertion sort: std::sort takes longer to compile than these few changes to sort.
        for (std::size_t k = i; k > 0 && effects[k - 1].gain < effects[k].gain; --k)
            std::swap(effects[k - 1], effects[k]);
    }
    result.changes.swap(effects);
}

WEIR_INLINE what_if_result effects_of(const std::vector<setting_change>& changes, const recording& from,
                                      const what_if_options& options) {
    what_if_result result = result_of_today(changes, from, options);
    if (result.refused.empty()) add_effects(result, changes, from, result.today, options.simulation);
    return result;
}

}  // namespace detail

WEIR_INLINE what_if_result what_if(const recording& from, const what_if_options& options) {
    what_if_options wide = options;
    wide.simulation = detail::in_whole_waves(options.simulation, from.settings, from);
    const std::vector<setting_change> changes =
        options.changes.empty() ? usual_changes(from) : options.changes;
    if (!options.calibrate) return detail::effects_of(changes, from, wide);
    what_if_result result = detail::result_of_today(changes, from, wide);
    if (!result.refused.empty()) return result;
    const recording used = detail::calibrated(from, result.today, wide.simulation);
    const bool is_same = used.stages.front().overhead == duration(0);
    const prediction today = is_same ? result.today : predict(used.settings, used, wide.simulation);
    detail::add_effects(result, changes, used, today, wide.simulation);
    return result;
}

}  // namespace weir

#endif
