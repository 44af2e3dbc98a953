// weir insight, internal: bodies of the functions of insight/verdict.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_VERDICT_IPP
#define WEIR_INSIGHT_VERDICT_IPP

#include <weir/insight/verdict.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <array>      // for std::array
#include <cstddef>    // for std::size_t
#include <exception>  // for std::exception
#include <stdexcept>  // for std::invalid_argument

namespace weir {

namespace detail {

inline constexpr double worthwhile_gain = 0.05;  // if no change has such a gain, the pipeline is balanced
inline constexpr double sure_enough = 0.6;       // with a smaller `verdict::sure`, the cause is `unsure`

WEIR_INLINE limit_cause cause_of(change_kind kind) noexcept {
    switch (kind) {
        case change_kind::faster:
        case change_kind::concurrency:
            return limit_cause::stage;
        case change_kind::capacity:
            return limit_cause::room;
        case change_kind::batch_size:
            return limit_cause::batch;
        case change_kind::completion_order:
            return limit_cause::order;
        case change_kind::threads:
            return limit_cause::threads;
        case change_kind::consumer:
            return limit_cause::consumer;
        case change_kind::source:
            return limit_cause::source;
        case change_kind::max_bytes:
            return limit_cause::bytes;
    }
    return limit_cause::unsure;
}

// A cause and its stage; for the cause `room`, no stage, so that all queues are one suspect.
struct suspect {
    limit_cause cause;
    std::string_view stage;
    friend bool operator==(const suspect&, const suspect&) = default;
};
WEIR_INLINE suspect suspect_of(const setting_change& change) {
    const limit_cause cause = cause_of(change.kind);
    return {cause, cause == limit_cause::room ? std::string_view() : std::string_view(change.stage)};
}

// The share of the resamples (predictions from samples drawn at random) in which the changes of this suspect
// bring most, or nearly as much; for `balanced`, the share in which no change brings 7 %. 1 without
// resamples, 0 without changes.
WEIR_INLINE double share_of(const what_if_result& result, const suspect& one) {
    constexpr double tie = 0.02;
    if (result.changes.empty()) return 0;
    const std::size_t n = result.changes.front().gains.size();
    if (n == 0) return 1;
    std::size_t same = 0;
    for (std::size_t k = 0; k < n; ++k) {
        double best = 0, own = 0;
        for (const predicted_change& each : result.changes) {
            best = larger(best, each.gains[k]);
            if (suspect_of(each.change) == one) own = larger(own, each.gains[k]);
        }
        const bool is_balanced = best < worthwhile_gain + tie;
        if (one.cause == limit_cause::balanced ? is_balanced : 1 + own > (1 + best) * (1 - tie)) ++same;
    }
    return static_cast<double>(same) / static_cast<double>(n);
}

// Returns the change with the greatest gain. Of several that bring nearly as much, the one whose kind is
// first in `order`: if only the consumer takes time, larger batches would bring as much as a faster one.
// Threads come before a faster function: a number is easier to change.
WEIR_INLINE const predicted_change& likeliest(const what_if_result& result) {
    constexpr double tie = 0.01;
    constexpr std::array<change_kind, 9> order{change_kind::concurrency, change_kind::source,
                                               change_kind::consumer,    change_kind::threads,
                                               change_kind::faster,      change_kind::completion_order,
                                               change_kind::max_bytes,   change_kind::capacity,
                                               change_kind::batch_size};
    const predicted_change& best = result.changes.front();
    for (const change_kind first : order) {
        for (const predicted_change& each : result.changes) {
            if (each.change.kind == first && 1 + each.gain > (1 + best.gain) * (1 - tie)) return each;
        }
    }
    return best;
}

// Returns the first change that is easier to make than `best`, has the same cause, and brings more than 80 %
// of its gain; else `best`. Easier: room in one queue than in all; more slots (workers) than a faster
// function.
WEIR_INLINE const predicted_change* simplest_like(const what_if_result& result,
                                                  const predicted_change* best) {
    constexpr double most_of_it = 0.8;
    for (const predicted_change& each : result.changes) {
        const bool is_simple = best->change.kind == change_kind::capacity
                                   ? each.change.kind == change_kind::capacity && !each.change.stage.empty()
                                   : best->change.kind == change_kind::faster &&
                                         each.change.kind == change_kind::concurrency &&
                                         each.change.stage == best->change.stage;
        if (is_simple && each.gain > most_of_it * best->gain) return &each;
    }
    return best;
}

WEIR_INLINE const predicted_stage* find_stage(const what_if_result& result, const std::string& name) {
    for (const predicted_stage& each : result.today.stages) {
        if (each.name == name) return &each;
    }
    return nullptr;
}

WEIR_INLINE std::string reason_text(const verdict& v, const what_if_result& result) {
    switch (v.cause) {
        case limit_cause::stage: {
            const predicted_stage* at = find_stage(result, v.stage);
            return concat({"stage '", v.stage, "' is the bottleneck", at == nullptr ? "" : ": it ",
                           at == nullptr ? std::string() : state_text(at->times)});
        }
        case limit_cause::room:
            if (v.stage.empty()) return "the queues have too little room for times that vary";
            return concat(
                {"the queues have too little room for times that vary, most of all behind '", v.stage, "'"});
        case limit_cause::order:
            return concat({"stage '", v.stage, "' holds finished items back to keep their order"});
        case limit_cause::batch:
            return concat({"the size of the batches of '", v.stage, "' limits the rate"});
        case limit_cause::threads:
            return "there are too few threads for the stages that are ready to run";
        case limit_cause::source:
            return "the source is the bottleneck";
        case limit_cause::consumer:
            return "the pipeline keeps up: the consumer is the bottleneck";
        case limit_cause::balanced:
            return "the pipeline is balanced: no single change brings 5 %";
        case limit_cause::bytes:
            return concat(
                {"the limit of bytes of the queue behind '", v.stage, "' leaves room for few items"});
        case limit_cause::blocking:
        case limit_cause::processors:
        case limit_cause::failures:
        case limit_cause::retries:
        case limit_cause::blocks:
        case limit_cause::copies:
        case limit_cause::overhead:  // causes that no change has: see deeper_limit(), limit_by_states()
        case limit_cause::unsure:
            break;
    }
    return "the figures don't tell what limits the rate";
}

// \returns why more slots alone don't help a stage that computes and has a slot for each thread; empty for
//          other stages.
WEIR_INLINE std::string threads_text(const setting_change& change, const what_if_result& result,
                                     const pipeline_settings& settings) {
    const predicted_stage* const at = find_stage(result, change.stage);
    if (change.kind != change_kind::faster || at == nullptr || at->times.run < at->times.await) return "";
    const stage_settings& stage = settings.stage(change.stage);
    const std::size_t threads = settings.pools[stage.pool];
    if (threads == 0 || stage.concurrency < threads) return "";
    return concat({"; more slots would need more threads, too: there ", threads == 1 ? "is " : "are ",
                   std::to_string(threads)});
}

// \returns what the change would bring. Requires `v.change`.
WEIR_INLINE std::string effect_text(const verdict& v, const recording& from) {
    constexpr double great = 9;  // such as that of a change to the only stage that takes time
    const std::string gain = v.gain > great ? "more than ten times as much" : percent_text(v.gain) + " more";
    const bool is_size = v.change->kind == change_kind::batch_size;
    return concat({"; ", describe(*v.change, from.settings), " would bring ", gain,
                   is_size ? ", if the stages behind take as long for each of them" : "",
                   " (sure: ", percent_text(v.sure), ")"});
}

}  // namespace detail

WEIR_INLINE verdict judge(const what_if_result& result, const recording& from) {
    verdict v;
    if (!result.refused.empty() || result.changes.empty()) {
        v.sentence = detail::concat({"not sure why it is not faster: ",
                                     result.refused.empty() ? "no change was predicted" : result.refused});
        return v;
    }
    const predicted_change& best = detail::likeliest(result);
    detail::suspect one = detail::suspect_of(best.change);
    if (best.gain < detail::worthwhile_gain) one = {limit_cause::balanced, {}};
    v.sure = detail::share_of(result, one);
    v.cause = one.cause;
    if (v.cause != limit_cause::balanced) {
        const predicted_change& simpler = *detail::simplest_like(result, &best);
        v.change = simpler.change;
        v.stage = simpler.change.stage;
        v.gain = simpler.gain;
        v.lost = v.gain / (1 + v.gain);
    }
    v.sentence = detail::reason_text(v, result);
    if (v.sure < detail::sure_enough) {
        v.sentence = detail::concat(
            {"not sure: perhaps ", v.sentence, ", but the times vary too much to tell; record more items"});
        v.cause = limit_cause::unsure;
        return v;
    }
    if (v.change) {
        v.sentence += detail::effect_text(v, from);
        v.sentence += detail::threads_text(*v.change, result, from.settings);
    }
    return v;
}

WEIR_INLINE verdict explain(const recording& from, const what_if_options& options) {
    return judge(what_if(from, options), from);
}

namespace detail {

WEIR_INLINE void look_deeper(verdict& v, const pipeline_stats& stats, const what_if_result& result,
                             const recording& from) {
    std::optional<visible_limit> deeper = deeper_limit(stats, v.cause, v.stage);
    if (!deeper) return;
    v.cause = deeper->cause;
    v.stage = deeper->stage;
    v.sentence = deeper->sentence;
    if (v.cause == limit_cause::processors) {
        v.change.reset();
        v.gain = 0;
        for (const predicted_change& each : result.changes) {
            if (each.change.kind != change_kind::faster || each.change.stage != v.stage) continue;
            v.change = each.change;
            v.gain = each.gain;
        }
        v.lost = v.gain / (1 + v.gain);
    }
    if (v.change && v.gain > 0) v.sentence += effect_text(v, from);
}

WEIR_INLINE verdict verdict_of_states(const pipeline_stats& stats, std::string why) {
    constexpr std::string_view prefix = "weir: ";  // of the message of an exception
    if (why.starts_with(prefix)) why.erase(0, prefix.size());
    why = why.substr(0, why.find(". "));  // the first sentence
    const visible_limit found = limit_by_states(stats);
    verdict v;
    v.cause = found.cause;
    if (v.cause == limit_cause::unsure) {
        v.sentence = "not sure why it is not faster: " + found.sentence;
        return v;
    }
    v.stage = found.stage;
    v.lost = found.lost;
    v.sure = sure_of_states;
    v.sentence = concat({found.sentence, " (sure: ", percent_text(v.sure),
                         ", as only the states of the slots tell it: ", why, ")"});
    return v;
}

}  // namespace detail

WEIR_INLINE verdict explain(const pipeline_stats& stats) {
    std::string why;
    try {
        const recording from = record_of(stats);
        const what_if_result result = what_if(from);
        why = result.refused;
        if (why.empty()) {
            verdict v = judge(result, from);
            detail::look_deeper(v, stats, result, from);
            return v;
        }
    } catch (const std::invalid_argument& reason) {
        why = reason.what();
    }
    return detail::verdict_of_states(stats, why);
}

}  // namespace weir

#endif
