// weir insight, internal: bodies of the functions of insight/limits.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_LIMITS_IPP
#define WEIR_INSIGHT_LIMITS_IPP

#include <weir/insight/limits.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>

#include <array>             // for std::array
#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::int64_t
#include <initializer_list>  // for std::initializer_list
#include <vector>            // for std::vector

namespace weir {

WEIR_INLINE std::string_view name_of(limit_cause cause) noexcept {
    constexpr std::array<std::string_view, 17> names{"stage",      "room",     "order",    "batch",
                                                     "workers",    "source",   "consumer", "blocking",
                                                     "processors", "failures", "retries",  "bytes",
                                                     "blocks",     "copies",   "overhead", "balanced",
                                                     "unsure"};
    return names[static_cast<std::size_t>(cause)];
}

namespace detail {

WEIR_INLINE double share_of_time(duration part, duration all) noexcept {
    return all <= duration(0) ? 0 : static_cast<double>(part.count()) / static_cast<double>(all.count());
}
WEIR_INLINE std::string percent_text(double share) { return units::whole_percent(share) + " %"; }

// The shares of the time of a stage's slots in which the slots are busy or wait for a turn; without `off`.
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

WEIR_INLINE std::string state_text(const slot_times& times) {
    const duration active = times.total() - times.off;
    if (active <= duration(0)) return "";
    const bool awaits = times.await > times.run;
    const double share = share_of_time(awaits ? times.await : times.run, active);
    return concat({awaits ? "awaits " : "is at work ", percent_text(share), " of the time"});
}

// Whether limit_by_states() looks at the stage: it has statistics of its slots, and is no sink.
WEIR_INLINE bool is_judged(const stage_stats& stage) {
    return !stage.per_slot.empty() && stage.kind != "sink";
}

// The queue behind the sink, from which the consumer takes items. Null without a sink or such a queue.
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

inline constexpr double much = 0.3;  // the share of a stage's time above which waits or failures are named

// \returns `limit_cause::blocks` if the waits for a free block, or those for memory of the device, take more
//          than the share `much` of `whole`; else none. The sentence names the longer of the two waits.
WEIR_INLINE std::optional<visible_limit> reason_of_blocks(const stage_stats& stage, duration whole) {
    if (!stage.transfers) return std::nullopt;
    const double block = share_of_time(stage.transfers->block_wait, whole);
    const double memory = share_of_time(stage.transfers->memory_wait, whole);
    if (larger(block, memory) <= much) return std::nullopt;
    const bool is_block = block > memory;
    return visible_limit{limit_cause::blocks, stage.name, 0,
                         concat({"stage '", stage.name, "' waits for ",
                                 is_block ? "a free block " : "memory of the device ",
                                 percent_text(larger(block, memory)), " of its time: give it more ",
                                 is_block ? "blocks" : "memory", ", or let go of its results earlier"})};
}

// \returns the reason if invocations take long because of waits, copies, retries or failures; else none.
WEIR_INLINE std::optional<visible_limit> reason_in_stage(const stage_stats& stage) {
    const auto limit = [&stage](limit_cause cause, std::initializer_list<std::string_view> what) {
        return visible_limit{cause, stage.name, 0, concat({"stage '", stage.name, "' ", concat(what)})};
    };
    if (auto waits = reason_of_blocks(stage, stage.busy)) return waits;
    if (stage.transfers && stage.transfers->num_copies != 0) {
        return limit(limit_cause::copies,
                     {"copies as fast as the device takes it, ",
                      units::bytes(static_cast<std::uint64_t>(stage.transfers->rate())),
                      "/s while it copies: copy less, larger pieces, or several at once"});
    }
    const double repeated = stage.retries ? share_of_time(stage.retries->time, stage.busy) : 0;
    if (repeated > much) {
        return limit(limit_cause::retries,
                     {"spends ", percent_text(repeated), " of its time on calls that fail and are repeated (",
                      units::count(stage.retries->num_retries),
                      "): find out why they fail, or shorten retry_options::delay"});
    }
    const double failed = share_of_time(stage.failure_time, stage.busy);
    if (failed > much) {
        return limit(limit_cause::failures,
                     {"spends ", percent_text(failed), " of its time on items that then fail (",
                      units::count(stage.num_failures), " of ", units::count(stage.num_tasks),
                      "): mend these, or find out sooner that they fail"});
    }
    return std::nullopt;
}

// The stage whose slots together had threads for the longest time. Requires at least one stage.
WEIR_INLINE const stage_stats& hardest_worker(const pipeline_stats& stats) {
    const stage_stats* most = &stats.stages.front();
    for (const stage_stats& each : stats.stages) {
        if (each.times().run > most->times().run) most = &each;
    }
    return *most;
}
WEIR_INLINE duration time_with_thread(const pipeline_stats& stats) {
    duration sum{};
    for (const stage_stats& each : stats.stages) sum += each.times().run;
    return sum;
}

// \returns why more threads don't help; none if more threads may help, or if figures are missing. The use is
// the processor time divided by the time in which functions have a thread. Preemptions are many if, at 10 ms
// each, they are at least half of the time in which functions have a thread but no processor. `processors`:
// at least 90 % of the processors are busy; or the use is 1/10 to 3/4, and preemptions are many. `blocking`,
// only if `lacks_threads`: the use is at most 3/4 without many preemptions, or below 1/10.
WEIR_INLINE std::optional<visible_limit> reason_for_threads(const pipeline_stats& stats, bool lacks_threads) {
    constexpr double nearly_all = 0.9;
    constexpr double most = 0.75;
    constexpr double least = 0.1;
    constexpr std::int64_t time_slice = 10'000'000;  // ns; Linux has slices of 1 to 10 ms
    if (!stats.process || stats.stages.empty()) return std::nullopt;
    const process_stats& process = *stats.process;
    const stage_stats& hardest = hardest_worker(stats);
    const duration run = time_with_thread(stats);
    const auto limit = [&hardest](limit_cause cause, std::initializer_list<std::string_view> why) {
        return visible_limit{cause, hardest.name, 0, concat(why)};
    };
    const std::string part =
        concat({"stage '", hardest.name, "' needs ", percent_text(share_of_time(hardest.times().run, run)),
                " of the stages' time with a thread"});
    if (process.processors && process.busy() >= nearly_all * *process.processors) {
        return limit(limit_cause::processors,
                     {"all ", std::to_string(*process.processors), " processors are busy; ", part});
    }
    if (!process.user_time || !process.system_time || !process.involuntary_switches) return std::nullopt;
    const duration worked = *process.user_time + *process.system_time;
    if (share_of_time(worked, run) > most) return std::nullopt;
    const std::string times = concat({": functions had a thread for ", units::time(run),
                                      ", and the processors worked ", units::time(worked)});
    const duration preempted(static_cast<std::int64_t>(*process.involuntary_switches) * time_slice);
    if (preempted < (run - worked) / 2 || share_of_time(worked, run) < least) {
        if (!lacks_threads) return std::nullopt;
        return limit(limit_cause::blocking,
                     {"stage '", hardest.name, "' blocks its thread", times,
                      "; give the stage an executor of its own, such as a blocking_pool"});
    }
    return limit(limit_cause::processors,
                 {"processors are short, as other programs or too many threads use them", times, "; ", part});
}

// The longest of the stages' average times of an invocation. Failed invocations count, too.
WEIR_INLINE duration longest_task(const pipeline_stats& stats) {
    duration longest{};
    for (const stage_stats& each : stats.stages) {
        longest = larger(longest, average(each.times().busy(), each.num_tasks));
    }
    return longest;
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
    if (stats.elapsed <= duration(0) || stats.stages.empty() || stats.stages[0].elapsed <= duration(0))
        return says(limit_cause::unsure, {}, {"the run has no statistics"});
    const stage_stats* busiest = nullptr;
    const stage_stats* ordered = nullptr;
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
        const bool is_busier = busiest == nullptr || shares.busy() > most;
        second = is_busier ? most : larger(second, shares.busy());
        if (is_busier) {
            most = shares.busy();
            busiest = &each;
        }
    }
    if (busiest == nullptr || num_tasks < fewest_items)
        return says(limit_cause::unsure, {}, {"too few items have passed"});
    const double consumer = busy_consumer(stats);
    if (last_queue(stats) != nullptr) found.lost = 1 - consumer;
    if (consumer > nearly_always && most < nearly_always)
        return says(limit_cause::consumer, {},
                    {"the pipeline keeps up: the consumer waits ", percent_text(1 - consumer),
                     " of the time"});
    constexpr duration short_task(1'000);
    if (const duration longest = longest_task(stats); longest < short_task) {
        return says(
            limit_cause::overhead, {},
            {"the tasks are short: none takes more than ", units::time(longest),
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
                     " of the time that they are ready or run"});
    if (most_order > for_a_turn && most < nearly_always) {
        // A source keeps no order: its slots are in `wait_turn` only because of the run's limit of bytes.
        if (ordered->kind == "source")
            return says(limit_cause::bytes, ordered->name,
                        {"the run's limit of bytes holds the source back, ", percent_text(most_order),
                         " of its time: raise run_options::max_bytes, or let stages make smaller items"});
        if (const auto waits = reason_of_blocks(*ordered, stats.elapsed))
            return says(waits->cause, waits->stage, {waits->sentence});
        return says(limit_cause::order, ordered->name,
                    {"stage '", ordered->name, "' holds finished items back to keep an order, ",
                     percent_text(most_order), " of its time"});
    }
    if (most > nearly_always && larger(second, consumer) > nearly_always) {
        return says(limit_cause::balanced, {}, {"the pipeline is balanced: several stages are always busy"});
    }
    if (most > nearly_always) {
        if (busiest->kind == "source")
            return says(limit_cause::source, {},
                        {"the source is the bottleneck: it is busy ", percent_text(most), " of the time"});
        if (const auto reason = reason_in_stage(*busiest))
            return says(reason->cause, reason->stage, {reason->sentence});
        return says(limit_cause::stage, busiest->name,
                    {"stage '", busiest->name, "' is the bottleneck: it ", state_text(busiest->times())});
    }
    return says(
        limit_cause::room, {},
        {"no stage is always busy, so the queues probably have too little room for times that vary; the "
         "busiest is '",
         busiest->name, "' with ", percent_text(most)});
}

WEIR_INLINE std::optional<visible_limit> deeper_limit(const pipeline_stats& stats, limit_cause found,
                                                      std::string_view stage) {
    const stage_stats* at = nullptr;
    for (const stage_stats& each : stats.stages) {
        if (each.name == stage) at = &each;
        // A slow consumer keeps items, and so their memory: then the waits are not the cause.
        const auto waits = reason_of_blocks(each, stats.elapsed);
        if (waits && found != limit_cause::consumer) return waits;
    }
    if (found == limit_cause::stage && at != nullptr) {
        if (auto reason = reason_in_stage(*at)) return reason;
    }
    const bool works = at != nullptr && at->times().run > at->times().await;
    if (found == limit_cause::threads || (found == limit_cause::stage && works)) {
        return reason_for_threads(stats, found == limit_cause::threads);
    }
    return std::nullopt;
}

}  // namespace detail

}  // namespace weir

#endif
