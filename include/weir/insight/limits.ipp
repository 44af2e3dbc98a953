// weir insight, internal: bodies of the functions of insight/limits.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_LIMITS_IPP
#define WEIR_INSIGHT_LIMITS_IPP

#include <weir/insight/limits.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>

#include <array>             // for std::array
#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <initializer_list>  // for std::initializer_list

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

WEIR_INLINE std::string state_text(const slot_times& times) {
    const duration active = times.total() - times.off;
    if (active <= duration(0)) return "";
    const bool awaits = times.await > times.run;
    const double share = share_of_time(awaits ? times.await : times.run, active);
    return concat({awaits ? "awaits " : "is at work ", percent_text(share), " of the time"});
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

// The time by which the waits for blocks or memory are divided. In `batch_slots` one slot waits on behalf of
// all slots: the time of the run. In other stages each slot waits for itself: the slots' time in service.
WEIR_INLINE duration divisor_of_block_waits(const stage_stats& stage, duration run) {
    const slot_times times = stage.times();
    return stage.kind == "batch_slots" ? run : times.total() - times.off;
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
    const double repeated =
        stage.retries ? share_of_time(stage.retries->time, time_of_invocations(stage)) : 0;
    if (repeated > much) {
        return limit(limit_cause::retries,
                     {"spends ", percent_text(repeated), " of its time on calls that fail and are repeated (",
                      units::count(stage.retries->num_retries),
                      "): find out why they fail, or shorten retry_options::delay"});
    }
    const double failed = share_of_time(stage.failure_time, time_of_invocations(stage));
    if (failed > much) {
        return limit(limit_cause::failures,
                     {"spends ", percent_text(failed), " of its time on items that then fail (",
                      units::count(stage.num_failures), " of ", units::count(stage.num_tasks),
                      "): mend these, or find out sooner that they fail"});
    }
    return std::nullopt;
}

// The stage whose slots (workers) together had threads for the longest time. Requires at least one stage.
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

// \returns a lower bound, in ns, of the time for which the stage had threads in invocations that were not
//          preempted. A preemption lengthens at most one invocation: so all but the `preemptions` longest
//          were not preempted. 0 if only the totals of the invocations are known.
WEIR_INLINE double undisturbed_time(const stage_stats& stage, std::uint64_t preemptions) {
    constexpr unsigned parts = 16;  // of the invocations, in the order of their times
    const auto all = static_cast<double>(stage.task_times.count());
    const double undisturbed = all - static_cast<double>(preemptions);
    double sum = 0;
    for (unsigned part = 0; part < parts && all * (part + 1) / parts <= undisturbed; ++part) {
        const duration shortest = stage.task_times.quantile(static_cast<double>(part) / parts);
        sum += all / parts * static_cast<double>(shortest.count());
    }
    return sum * share_of_time(stage.times().run, stage.times().busy());
}

// \returns why more threads don't help; none if more threads may help, or if figures are missing. The use is
// the processor time divided by the time in which functions have a thread. The rest of that time counts as
// lost by preemptions if two conditions hold: 10 ms for each preemption are at least half of the rest, and
// the invocations that were not preempted lost less than half of the rest. `processors`: at least 90 % of the
// processors are busy; or the use is 1/10 to 3/4, and the rest is lost by preemptions. `blocking`, only if
// `lacks_threads`: the use is at most 3/4 and the rest isn't lost by preemptions, or the use is below 1/10.
WEIR_INLINE std::optional<visible_limit> reason_for_threads(const pipeline_stats& stats, bool lacks_threads) {
    constexpr double nearly_all = 0.9;
    constexpr double most = 0.75;
    constexpr double least = 0.1;
    constexpr double time_slice = 1e7;  // ns; Linux has slices of 1 to 10 ms
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
    const std::uint64_t preemptions = *process.involuntary_switches;
    double undisturbed = 0;
    for (const stage_stats& each : stats.stages) undisturbed += undisturbed_time(each, preemptions);
    const double half = static_cast<double>((run - worked).count()) / 2;
    const bool is_preempted = static_cast<double>(preemptions) * time_slice >= half &&
                              undisturbed - static_cast<double>(worked.count()) < half;
    if (!is_preempted || share_of_time(worked, run) < least) {
        if (!lacks_threads) return std::nullopt;
        return limit(limit_cause::blocking,
                     {"stage '", hardest.name, "' blocks its thread", times,
                      "; give the stage an executor of its own, such as a blocking_pool"});
    }
    return limit(limit_cause::processors,
                 {"processors are short, as other programs or too many threads use them", times, "; ", part});
}

WEIR_INLINE std::optional<visible_limit> deeper_limit(const pipeline_stats& stats, limit_cause found,
                                                      std::string_view stage) {
    const stage_stats* at = nullptr;
    std::optional<visible_limit> waits;
    for (const stage_stats& each : stats.stages) {
        if (each.name == stage) {
            at = &each;
            // Items wait before a slow stage, and hold memory of the earlier stages. So the slow stage causes
            // the waits of the earlier stages, and more items would fill more memory, too.
            if (found == limit_cause::stage) waits.reset();
        }
        if (!waits) waits = reason_of_blocks(each, divisor_of_block_waits(each, stats.elapsed));
    }
    if (waits && found != limit_cause::consumer) return waits;  // the same for a slow consumer
    if (found == limit_cause::stage && at != nullptr) {
        if (auto reason = reason_in_stage(*at)) return reason;
    }
    const bool works = at != nullptr && at->times().run > at->times().await;
    if (found == limit_cause::threads || (found == limit_cause::stage && works)) {
        const bool fills_threads =
            at != nullptr && at->setup && at->setup->threads != 0 && at->concurrency >= at->setup->threads;
        return reason_for_threads(stats, found == limit_cause::threads || fills_threads);
    }
    return std::nullopt;
}

}  // namespace detail

}  // namespace weir

#endif
