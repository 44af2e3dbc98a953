// weir insight, internal: bodies of the functions of insight/what_if.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_WHAT_IF_IPP
#define WEIR_INSIGHT_WHAT_IF_IPP

#include <weir/insight/what_if.hpp>

#include <weir/insight/predict.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>

#include <iterator>   // for std::prev
#include <stdexcept>  // for std::invalid_argument

namespace weir {

namespace detail {

// \returns the value of a change as a whole number, at least 1. Throws std::invalid_argument for others.
// `what`: the noun for the message.
WEIR_INLINE std::size_t changed_count(const setting_change& change, const char* what) {
    constexpr double most = 1e9;
    if (!is_finite(change.value) || change.value < 1 || change.value > most ||
        !are_equal(change.value, static_cast<double>(static_cast<std::size_t>(change.value)))) {
        throw std::invalid_argument("weir: a change needs a whole number of " + std::string(what) +
                                    " from 1 to 10^9" +
                                    (change.stage.empty() ? "" : " for stage '" + change.stage + "'"));
    }
    return static_cast<std::size_t>(change.value);
}

WEIR_INLINE void demand_role(const stage_settings& stage, stage_role role, const char* what) {
    if (stage.role == role) return;
    throw std::invalid_argument("weir: stage '" + stage.name + "' has no " + what + " to change");
}

WEIR_INLINE void demand_pool(const pipeline_settings& settings, std::size_t pool) {
    if (pool < settings.pools.size()) return;
    throw std::invalid_argument("weir: there is no pool number " + std::to_string(pool));
}

WEIR_INLINE double mean_seconds(const recorded_stage& stage) {
    double sum = 0;
    for (const recorded_task& each : stage.tasks)
        sum += static_cast<double>(each.run.count()) + static_cast<double>(each.await.count());
    return stage.tasks.empty() ? 0 : sum * 1e-9 / static_cast<double>(stage.tasks.size());
}

WEIR_INLINE bool takes_time(const recorded_stage& stage) { return mean_seconds(stage) > 0; }

WEIR_INLINE double elements_per_item(const pipeline_settings& settings) {
    std::vector<double> batches;
    for (const stage_settings& each : settings.stages) {
        if (each.role == stage_role::aggregate) batches.push_back(static_cast<double>(each.batch_size));
        if (each.role == stage_role::disaggregate && !batches.empty()) batches.pop_back();
    }
    double all = 1;
    for (const double size : batches) all *= size;
    return all;
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
WEIR_INLINE std::size_t much_room(std::size_t capacity) { return larger<std::size_t>(16, 4 * capacity); }

}  // namespace detail

WEIR_INLINE pipeline_settings with_change(pipeline_settings settings, const setting_change& change,
                                          const recording& from) {
    detail::refuse_if(settings.stages.empty(), "weir: there is no stage to change");
    switch (change.kind) {
        case change_kind::faster:
            if (!detail::is_finite(change.value) || change.value < 0 || change.value > 1) {
                throw std::invalid_argument("weir: how much faster stage '" + change.stage +
                                            "' is must be the share of its time that is saved: from 0 to 1, "
                                            "where 0.5 is half the time");
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
            for (stage_settings& each : settings.stages) {
                each.capacity = detail::larger(each.capacity, detail::changed_count(change, "places"));
            }
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
                throw std::invalid_argument("weir: the queue behind stage '" + change.stage +
                                            "' has no limit of bytes to change");
            }
            settings.stage(change.stage).byte_room = 0;
            break;
    }
    return settings;
}

WEIR_INLINE std::string describe(const setting_change& change, const pipeline_settings& before) {
    const auto count = [](double n) { return units::fixed(n, 0); };
    const auto name = change.stage.empty() ? std::string() : change.stage + ": ";
    switch (change.kind) {
        case change_kind::faster:
            return name + units::fixed(100 * change.value, 0) + " % less time";
        case change_kind::concurrency:
            return name + count(change.value) + " slots instead of " +
                   std::to_string(before.stage(change.stage).concurrency);
        case change_kind::capacity:
            if (change.stage.empty()) return "every queue: room for " + count(change.value) + " items";
            return name + "room for " + count(change.value) + " items behind it instead of " +
                   std::to_string(before.stage(change.stage).capacity);
        case change_kind::batch_size:
            return name + "batches of " + count(change.value) + " instead of " +
                   std::to_string(before.stage(change.stage).batch_size);
        case change_kind::completion_order:
            return name + "results as they are finished, instead of in order";
        case change_kind::threads:
            detail::demand_pool(before, change.pool);
            return count(change.value) + " threads instead of " + std::to_string(before.pools[change.pool]) +
                   detail::users_of(change.pool, before);
        case change_kind::consumer:
            return change.value > 0
                       ? "a consumer that takes " +
                             units::time(duration(detail::nearest<std::int64_t>(change.value * 1e9)))
                       : "a consumer that takes no time";
        case change_kind::source:
            return "a source that takes no time";
        case change_kind::max_bytes:
            return name + "no limit of bytes behind it, which has room for about " +
                   std::to_string(before.stage(change.stage).byte_room) + " of its items";
    }
    return {};
}

WEIR_INLINE std::vector<setting_change> usual_changes(const recording& from) {
    std::vector<setting_change> all;
    const std::vector<stage_settings>& stages = from.settings.stages;
    std::size_t most_room = 0;
    for (std::size_t i = 0; i < stages.size() && i < from.stages.size(); ++i) {
        const stage_settings& each = stages[i];
        const auto add = [&](change_kind kind, std::size_t value) {
            all.push_back({kind, each.name, static_cast<double>(value)});
        };
        if (each.role == stage_role::consumer || each.role == stage_role::source) {
            const bool is_source = each.role == stage_role::source;
            if (detail::takes_time(from.stages[i])) {
                all.push_back({is_source ? change_kind::source : change_kind::consumer, {}, 0});
            }
        }
        if (each.role == stage_role::function && detail::takes_time(from.stages[i])) {
            all.push_back({change_kind::faster, each.name, 0.5});
            add(change_kind::concurrency, 2 * each.concurrency);
            if (each.output_order == output_order::input && each.concurrency > 1) {
                add(change_kind::completion_order, 0);
            }
        }
        if (each.role == stage_role::aggregate) {
            add(change_kind::batch_size, 2 * each.batch_size);
            if (each.batch_size > 1) add(change_kind::batch_size, each.batch_size / 2);
        }
        if (each.role != stage_role::consumer) {
            add(change_kind::capacity, detail::much_room(each.capacity));
            most_room = detail::larger(most_room, detail::much_room(each.capacity));
        }
        if (each.byte_room != 0) add(change_kind::max_bytes, 0);
    }
    all.push_back({change_kind::capacity, {}, static_cast<double>(most_room)});
    for (std::size_t i = 0; i < from.settings.pools.size(); ++i) {
        const std::size_t threads = from.settings.pools[i];
        if (threads != 0) all.push_back({change_kind::threads, {}, static_cast<double>(2 * threads), i});
    }
    return all;
}

namespace detail {

WEIR_INLINE std::string why_refused(const recording& from, const what_if_result& result,
                                    const what_if_options& options) {
    for (std::size_t i = 0; i < from.stages.size(); ++i) {
        const recorded_stage& each = from.stages[i];
        if (each.tasks.empty() || each.in_sequence || each.num_tasks >= options.fewest_tasks) continue;
        return "stage '" + from.settings.stages[i].name + "' has only " + std::to_string(each.num_tasks) +
               " recorded invocations; let the run go on until each stage has at least " +
               std::to_string(options.fewest_tasks);
    }
    if (result.measured <= 0) return {};
    const double error = mean_rate(result.today) / result.measured - 1;
    const double distance = larger(error, -error);
    if (distance <= options.tolerance) return {};
    const std::string by = units::fixed(100 * distance, 0) + " %";
    if (error > 0) {
        return "I can't explain this run: by its times it should have been " + by +
               " faster than it was. Likely something outside slowed it down: too few processors, other "
               "programs, a "
               "stage whose time depends on the load, or time that the library itself needs for very short "
               "tasks";
    }
    return "I can't explain this run: by its times it should have been " + by +
           " slower than it was. Likely its times changed while it ran, or too few items have passed";
}

}  // namespace detail

WEIR_INLINE what_if_result what_if(const recording& from, const what_if_options& options) {
    what_if_result result;
    result.measured = from.rate;
    result.today = predict(from.settings, from, options.simulation);
    result.refused = detail::why_refused(from, result, options);
    std::vector<pipeline_settings> changed;
    const std::vector<setting_change> changes =
        options.changes.empty() ? usual_changes(from) : options.changes;
    for (const setting_change& each : changes) {
        changed.push_back(with_change(from.settings, each, from));
        detail::check_settings(changed.back());
    }
    if (!result.refused.empty()) return result;

    const recording used =
        options.calibrate ? detail::calibrated(from, result.today, options.simulation) : from;
    if (!used.stages.empty()) result.overhead = used.stages.front().overhead;
    const prediction today =
        result.overhead == duration(0) ? result.today : predict(used.settings, used, options.simulation);
    const double elements = detail::elements_per_item(from.settings);
    for (std::size_t i = 0; i < changed.size(); ++i) {
        const prediction p = predict(changed[i], used, options.simulation);
        const double scale = detail::elements_per_item(changed[i]) / elements;
        predicted_change next{changes[i], p.rate, p.low, p.high, 0, {}};
        if (today.rate > 0) next.gain = scale * p.rate / today.rate - 1;
        for (std::size_t k = 0; k < p.resampled.size() && k < today.resampled.size(); ++k) {
            const double before = today.resampled[k];
            next.gains.push_back(before > 0 ? scale * p.resampled[k] / before - 1 : 0);
        }
        // An insertion sort: std::sort takes longer to compile than these few changes to sort.
        auto at = result.changes.end();
        while (at != result.changes.begin() && std::prev(at)->gain < next.gain) --at;
        result.changes.insert(at, std::move(next));
    }
    return result;
}

}  // namespace weir

#endif
