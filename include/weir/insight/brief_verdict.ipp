// weir insight, internal: bodies of the functions of insight/verdict.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_BRIEF_VERDICT_IPP
#define WEIR_INSIGHT_BRIEF_VERDICT_IPP

#include <weir/insight/verdict.hpp>

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::swap
#include <vector>     // for std::vector

namespace weir {

namespace detail {

inline constexpr std::size_t brief_resamples = 5;
inline constexpr std::size_t brief_contenders = 2;       // how many causes get repeated predictions
inline constexpr std::uint64_t fewest_for_verdict = 20;  // items, and invocations of a stage

// Of the 240 pipelines in tests/programs/explain, one simulation could not explain 9 with 1000 items, 7 with
// 2000, and 33 with 500.
inline constexpr double most_items_of_brief_verdict = 1'000;

WEIR_INLINE predict_options brief_simulation(const recording& from) noexcept {
    const double tasks = 1 + tasks_per_item(from);  // and the sink
    return in_whole_waves(short_simulation(tasks, most_items_of_brief_verdict), from.settings, from);
}

WEIR_INLINE duration cost_of_brief_simulations(const recording& from) noexcept {
    constexpr double time_of_task = 80;                  // in nanoseconds
    constexpr double longest = 1e18;                     // fits into a duration
    const std::size_t changes = 3 * from.stages.size();  // about as many as usual_changes() returns
    const std::size_t simulations = changes + (2 + brief_contenders) * (1 + brief_resamples);
    const double tasks = 1 + tasks_per_item(from);
    const auto items = static_cast<double>(brief_simulation(from).items);
    const double time = static_cast<double>(simulations) * items * tasks * time_of_task;
    return duration(static_cast<std::int64_t>(smaller(time, longest)));
}

WEIR_INLINE duration cost_of_brief_verdict(const pipeline_stats& stats) {
    try {
        return cost_of_brief_simulations(record_of(stats));
    } catch (const std::logic_error&) {
        return duration(0);
    }
}

WEIR_INLINE bool has_same_cause(const setting_change& a, const setting_change& b) {
    const limit_cause cause = cause_of(a.kind);
    return cause == cause_of(b.kind) && (cause == limit_cause::room || a.stage == b.stage);
}

// Fills in `predicted_change::gains`. The change with the greatest gain, and the best change with another
// cause, are resampled (predicted again, from samples drawn at random). Each other change counts in all
// resamples with the gain of its prediction.
WEIR_INLINE void add_resamples(what_if_result& result, const recording& from, what_if_options& options) {
    std::vector<setting_change> changes;
    for (const predicted_change& each : result.changes) {
        bool is_new = changes.size() < brief_contenders;
        for (const setting_change& other : changes) is_new = is_new && !has_same_cause(each.change, other);
        if (is_new) changes.push_back(each.change);
    }
    options.simulation.resamples = brief_resamples;
    what_if_result resampled = effects_of(changes, from, options);
    for (predicted_change& each : result.changes) {
        each.gains = std::vector<double>(brief_resamples, each.gain);
        for (predicted_change& other : resampled.changes) {
            if (other.change == each.change) std::swap(each, other);
        }
    }
}

// The verdict by predictions; none: they don't explain the run, as `why` says.
WEIR_INLINE std::optional<verdict> predicted_verdict(const pipeline_stats& stats, const recording& from,
                                                     std::string& why) {
    what_if_options options;
    options.simulation = brief_simulation(from);
    options.simulation.resamples = brief_resamples;
    const std::vector<setting_change> changes = usual_changes(from);
    what_if_result result = result_of_today(changes, from, options);
    why = result.refused;
    if (!why.empty()) return std::nullopt;
    options.simulation.resamples = 0;
    add_effects(result, changes, from, result.today, options.simulation);
    if (!result.changes.empty()) add_resamples(result, from, options);
    verdict v = judge(result, from);
    look_deeper(v, stats, result, from);
    return v;
}

}  // namespace detail

WEIR_INLINE std::optional<verdict> brief_verdict(const pipeline_stats& stats) {
    constexpr duration longest(100'000'000);
    if (stats.num_items < detail::fewest_for_verdict) return std::nullopt;
    for (const stage_stats& each : stats.stages) {
        if (each.num_tasks != 0 && each.num_tasks < detail::fewest_for_verdict) return std::nullopt;
    }
    std::string why = "its prediction would take too long for a report";
    try {
        const recording from = record_of(stats);
        const duration cost = detail::cost_of_brief_simulations(from);
        if (cost > stats.elapsed) return std::nullopt;
        if (cost <= longest) {
            if (auto v = detail::predicted_verdict(stats, from, why)) return v;
        }
    } catch (const std::logic_error& reason) {  // such a run can't be predicted
        why = reason.what();
    }
    verdict v = detail::verdict_of_states(stats, why);
    if (v.cause == limit_cause::unsure) return std::nullopt;
    return v;
}

WEIR_INLINE std::string detail::brief_sentence(const pipeline_stats& stats) {
    const std::optional<verdict> v = brief_verdict(stats);
    return v ? v->sentence : std::string();
}

}  // namespace weir

#endif
