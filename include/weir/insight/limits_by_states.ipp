// weir insight, internal: the body of `limit_by_states` of insight/limits.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_LIMITS_BY_STATES_IPP
#define WEIR_INSIGHT_LIMITS_BY_STATES_IPP

#include <weir/insight/limits.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <initializer_list>  // for std::initializer_list
#include <optional>          // for std::optional
#include <string>            // for std::string
#include <vector>            // for std::vector

namespace weir::detail {

// The shares of the time of a stage's slots (workers) in which the slots are busy or wait for a turn; without
// `off`.
struct state_shares {
    explicit state_shares(const stage_stats& stage)
        : times(stage.times()), active(times.total() - times.off),
          joins(stage.kind == "merge" || stage.kind == "zip") {}
    double busy() const noexcept { return share_of_time(times.busy(), active); }
    double waiting_for_order() const noexcept { return joins ? 0 : share_of_time(times.wait_turn, active); }
    slot_times times;
    duration active;  // the time of the slots without `off` (slots not begun, or ended)
    bool joins;  // the stage joins queues: its slots wait for the turn of an input, and hold no result back
};

// Whether limit_by_states() looks at the stage: it has statistics of its slots, and is no sink.
WEIR_INLINE bool is_judged(const stage_stats& stage) {
    return !stage.per_slot.empty() && stage.kind != "sink";
}

// The queue behind the sink (a last stage), from which the consumer takes items. Null without a sink or such
// a queue.
WEIR_INLINE const channel_stats* last_queue(const pipeline_stats& stats) {
    if (stats.stages.empty() || stats.stages.back().kind != "sink" || stats.channels.empty()) return nullptr;
    const std::vector<std::size_t>& outputs = stats.stages.back().outputs;
    const std::size_t at = outputs.empty() ? stats.channels.size() - 1 : outputs.front();
    return at < stats.channels.size() ? &stats.channels[at] : nullptr;
}

// The share of the time in which the consumer does not wait for an item; 0 without a sink.
WEIR_INLINE double busy_consumer(const pipeline_stats& stats) {
    const channel_stats* const last = last_queue(stats);
    return last == nullptr ? 0 : 1 - smaller(1.0, share_of_time(last->get_blocked, stats.elapsed));
}

// The longest of the stages' average times of an invocation. Failed invocations count, too.
WEIR_INLINE duration longest_task(const pipeline_stats& stats) {
    duration longest{};
    for (const stage_stats& each : stats.stages) {
        longest = larger(longest, average(each.times().busy(), each.num_tasks));
    }
    return longest;
}

// Whether the number of the stage's slots can't change.
WEIR_INLINE bool is_fixed(const stage_stats& stage) {
    return stage.kind == "source" || (stage.setup && !stage.setup->is_resizable);
}

// What to change so that a stage is faster that is always busy; empty if nothing is known.
WEIR_INLINE std::string advice_for(const stage_stats& stage) {
    if (stage.kind == "merge" || stage.kind == "zip") return "";
    if (is_fixed(stage)) return "; make it faster: it always has one slot";
    const std::size_t threads = stage.setup ? stage.setup->threads : 0;
    const bool works = stage.times().run > stage.times().await;
    if (works && threads != 0 && stage.concurrency >= threads)
        return "; make its function faster, or give it more slots and its executor more threads";
    return "; give it more slots (concurrency), or make its function faster";
}

// The shortest and the longest time for which a slot of the stage was in service; without slots that never
// were, as after the number of slots was reduced.
struct service_times {
    explicit service_times(const stage_stats& stage) {
        for (const slot_times& each : stage.per_slot) {
            const duration active = each.total() - each.off;
            if (active <= duration(0)) continue;
            shortest = shortest ? smaller(*shortest, active) : active;
            longest = larger(longest, active);
        }
    }
    std::optional<duration> shortest;  // none without such slots
    duration longest{};
};

// \returns the share of a time in which the stage is busy. That time is the one in which the stage was in
//          service if it was for about as long as `longest`, the time of whatever is always busy; else the
//          time of the run: long after the stage has ended, no other part of the pipeline waits for it.
WEIR_INLINE double busy_share(const stage_stats& stage, duration run, duration longest) {
    const double busy = state_shares(stage).busy();
    const duration lasted = service_times(stage).longest;
    return share_of_time(lasted, longest) < 0.9 ? busy * share_of_time(lasted, run) : busy;
}

// For how long the one of the stages, or the consumer, was in service that lasted longest of those that are
// busy for more than this share of their time; `pipeline_stats::elapsed` for the consumer.
WEIR_INLINE duration longest_busy(const pipeline_stats& stats, double share) {
    duration longest{};
    for (const stage_stats& each : stats.stages) {
        if (is_judged(each) && state_shares(each).busy() > share)
            longest = larger(longest, service_times(each).longest);
    }
    return busy_consumer(stats) > share ? stats.elapsed : longest;
}

// The names of the stages that are busy for more than this share of the time, and the consumer if it is.
WEIR_INLINE std::string names_of_busy(const pipeline_stats& stats, double share) {
    const duration longest = longest_busy(stats, share);
    std::string names;
    const auto add = [&names](std::initializer_list<std::string_view> next) {
        names += (names.empty() ? "" : ", ") + concat(next);
    };
    for (const stage_stats& each : stats.stages) {
        if (is_judged(each) && busy_share(each, stats.elapsed, longest) > share) add({"'", each.name, "'"});
    }
    if (busy_consumer(stats) > share) add({"the consumer"});
    return names;
}

WEIR_INLINE std::size_t num_sources(const pipeline_stats& stats) {
    std::size_t n = 0;
    for (const stage_stats& each : stats.stages) n += each.kind == "source" ? 1U : 0U;
    return n;
}

WEIR_INLINE visible_limit limit_by_states(const pipeline_stats& stats) {
    constexpr double nearly_always = 0.93;
    constexpr double often = 0.3;
    constexpr double for_a_turn = 0.1;  // of a stage's time: its slots wait for a turn, or for a thread
    constexpr std::uint64_t fewest_items = 20;
    visible_limit found;
    const auto says = [&found](limit_cause cause, std::string_view stage,
                               std::initializer_list<std::string_view> why) {
        found.cause = cause;
        found.stage = stage;
        found.sentence = concat(why);
        return found;
    };
    if (stats.elapsed <= duration(0) || stats.stages.empty() ||
        stats.stages[0].times().total() <= duration(0))
        return says(limit_cause::unsure, {}, {"the run has no statistics"});
    const stage_stats* busiest = nullptr;
    const stage_stats* ordered = nullptr;
    const duration longest = longest_busy(stats, nearly_always);
    double most = 0, second = 0, most_order = 0, most_runnable = 0;
    std::uint64_t num_tasks = 0;
    duration runnable{}, run{};
    for (const stage_stats& each : stats.stages) {
        if (!is_judged(each)) continue;
        const state_shares shares(each);
        num_tasks = larger(num_tasks, each.num_tasks);
        runnable += shares.times.runnable;
        run += shares.times.run;
        most_runnable = larger(most_runnable, share_of_time(shares.times.runnable, shares.active));
        if (shares.waiting_for_order() > most_order) {
            most_order = shares.waiting_for_order();
            ordered = &each;
        }
        const double busy = busy_share(each, stats.elapsed, longest);
        const bool is_busier = busiest == nullptr || busy > most;
        second = is_busier ? most : larger(second, busy);
        if (is_busier) {
            most = busy;
            busiest = &each;
        }
    }
    if (busiest == nullptr || num_tasks < fewest_items)
        return says(limit_cause::unsure, {}, {"too few items have passed"});
    const double consumer = busy_consumer(stats);
    const double started = stats.first_item ? 1 - share_of_time(stats.first_item->since, stats.elapsed) : 0;
    const channel_stats* const last = last_queue(stats);
    if (last != nullptr && share_of_time(time_before_first_get(stats, *last), stats.elapsed) > often) {
        return says(limit_cause::unsure, {},
                    {"the consumer took its first item after ", percent_text(started),
                     " of the time, and had not waited for it; explain a part of the run behind that item"});
    }
    if (last != nullptr) found.lost = 1 - consumer;
    if (consumer > nearly_always && most < nearly_always)
        return says(limit_cause::consumer, {},
                    {"the pipeline keeps up: the consumer waits ", percent_text(1 - consumer),
                     " of the time"});
    constexpr duration short_task(1'000);
    if (const duration task = longest_task(stats); task < short_task) {
        return says(
            limit_cause::overhead, {},
            {"the tasks are short: none takes more than ", units::time(task),
             " on average, which is about as long as it takes to move an item; do more in a task, or move "
             "batches (aggregate)"});
    }
    // A stage that is always at work gains nothing by more threads, and functions that await hardly need any.
    const double without_thread = share_of_time(runnable, runnable + run);
    const bool lacks_threads = without_thread > often && most_runnable > for_a_turn && most <= nearly_always;
    if (const auto deeper = reason_for_threads(stats, lacks_threads))
        return says(deeper->cause, deeper->stage, {deeper->sentence});
    if (lacks_threads)
        return says(limit_cause::threads, {},
                    {"there are too few threads: functions wait for one ", percent_text(without_thread),
                     " of the time that they are ready or run; give their executor more threads"});
    if (most_order > for_a_turn && most < nearly_always) {
        // A source keeps no order: its slots are in `wait_turn` only because of the run's limit of bytes.
        if (ordered->kind == "source")
            return says(limit_cause::bytes, ordered->name,
                        {"the run's limit of bytes holds the source back, ", percent_text(most_order),
                         " of its time: raise run_options::max_bytes, or let stages make smaller items"});
        if (const auto waits = reason_of_blocks(*ordered, divisor_of_block_waits(*ordered, stats.elapsed)))
            return says(waits->cause, waits->stage, {waits->sentence});
        return says(limit_cause::order, ordered->name,
                    {"stage '", ordered->name, "' holds finished items back to keep an order, ",
                     percent_text(most_order),
                     " of its time; give the queue behind it more room (capacity), or let results leave as ",
                     "they are finished (output_order::completion)"});
    }
    if (most > nearly_always && larger(second, consumer) > nearly_always) {
        return says(
            limit_cause::balanced, {},
            {"the pipeline is balanced: several stages are always busy; each of them would have to be ",
             "faster: ", names_of_busy(stats, nearly_always)});
    }
    if (most > nearly_always) {
        if (busiest->kind == "source" && num_sources(stats) > 1)
            return says(limit_cause::source, busiest->name,
                        {"source '", busiest->name, "' is the bottleneck: it is busy ", percent_text(most),
                         " of the time"});
        if (busiest->kind == "source")
            return says(limit_cause::source, {},
                        {"the source is the bottleneck: it is busy ", percent_text(most), " of the time"});
        if (const auto reason = reason_in_stage(*busiest))
            return says(reason->cause, reason->stage, {reason->sentence});
        const double lasted = share_of_time(service_times(*busiest).longest, stats.elapsed);
        const std::string part =
            lasted < 0.9
                ? concat({", in the ", percent_text(lasted), " of the run in which it is in service"})
                : "";
        return says(limit_cause::stage, busiest->name,
                    {"stage '", busiest->name, "' is the bottleneck: it ", state_text(busiest->times()), part,
                     advice_for(*busiest)});
    }
    if (started > 0.5) {
        const bool is_source = busiest->kind == "source";
        return says(is_source ? limit_cause::source : limit_cause::stage, is_source ? "" : busiest->name,
                    {percent_text(started),
                     " of the time passed before the first item came; the busiest is '", busiest->name,
                     "' with ", percent_text(most), ": what it does at first takes long"});
    }
    for (const stage_stats& each : stats.stages) {
        const service_times service(each);
        // When the input ends, a slot may still have a long invocation.
        const duration at_end = larger(stats.elapsed / 10, 2 * (each.task_times.max)());
        if (!is_judged(each) || state_shares(each).joins || !service.shortest ||
            service.longest - *service.shortest < at_end)
            continue;
        return says(limit_cause::unsure, {},
                    {"slots of '", each.name, "' were in service for ", units::time(*service.shortest),
                     " to ", units::time(service.longest),
                     "; explain a part of the run in which their number is the same"});
    }
    return says(
        limit_cause::room, {},
        {"no stage is always busy, so the queues probably have too little room for times that vary; the ",
         "busiest is '", busiest->name, "' with ", percent_text(most),
         "; give the queues more room (capacity)",
         is_fixed(*busiest) ? "" : ", or the busiest more slots (concurrency)"});
}

}  // namespace weir::detail

#endif
