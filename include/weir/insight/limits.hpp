// weir insight: what limits the rate of a pipeline, judged by the statistics of a run without a simulation
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_LIMITS_HPP
#define WEIR_INSIGHT_LIMITS_HPP

#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>      // for std::uint8_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir {

/// What limits the rate of a pipeline. A slot is a worker of a stage; the consumer takes the results.
enum class limit_cause : std::uint8_t {
    stage,       ///< a stage: its function takes too long, or the stage has too few slots
    room,        ///< the queues: their capacity is too small for times that vary from item to item
    order,       ///< a stage that keeps the order of its items: finished items wait for earlier ones
    batch,       ///< the size of the batches that an aggregate makes
    threads,     ///< the number of threads: functions wait for a free one
    source,      ///< the source
    consumer,    ///< the consumer: the pipeline keeps up
    blocking,    ///< a function that blocks its thread, so that other stages have too few threads
    processors,  ///< the processors: all of them are busy, perhaps with other programs
    failures,    ///< items that fail, and take time before they do
    retries,     ///< calls that fail and are repeated: see `retry`
    bytes,       ///< a limit of bytes: `stage_options::max_bytes`, `run_options::max_bytes`
    blocks,      ///< memory: a stage waits for a free block of a memory pool, or for memory of a device
    copies,      ///< copies to or from the memory of a device
    overhead,    ///< the library's time to move an item: no function takes longer than 1 us on average
    balanced,    ///< no single cause: no change brings 5 %; or two stages, or a stage and the consumer,
                 ///< are always busy
    unsure,      ///< unknown: the statistics don't tell
};

/// \returns the name of the cause in reports: the enumerator's name, but "workers" for `threads`.
/// Lifetime: static.
[[nodiscard]] std::string_view name_of(limit_cause cause) noexcept;

namespace detail {

// A limit that the statistics of a run show without a simulation.
struct visible_limit {
    limit_cause cause = limit_cause::unsure;
    std::string stage = {};  // the name of the stage that limits; empty if the cause has none
    // The share of time in which the consumer waits. 0 for `limit_cause::unsure`, without a `sink` (the stage
    // before the consumer), and in the results of deeper_limit().
    double lost = 0;
    std::string sentence = {};  // the figures that show the limit, and what to do
};

// `verdict::sure` of a verdict from limit_by_states(): about the share of cases in which this function is
// right.
inline constexpr double sure_of_states = 0.7;

// \returns "awaits 98 % of the time" or "is at work 60 % of the time": the larger of the two shares of the
//          time in which the slots were not `slot_state::off` (not begun, or ended); empty if always off.
std::string state_text(const slot_times& times);

// Finds the limit by the states of the slots and the process's use of processors. For runs that a simulation
// can't explain: with branches, without histograms of times, or with times that depend on the load. Of the
// 240 simulated pipelines in tests/programs/explain/verdict.test.cpp, this function judges at least 70 %
// right. A size of batches or a number of threads that limits a simulated run does not show in the states.
visible_limit limit_by_states(const pipeline_stats& stats);

// Looks for the reason behind a limit that a prediction has found, in figures that predictions don't use.
// The waits of a stage for blocks or memory count, unless the limit is the consumer or a later stage.
// Copies, repeated calls and failures count if the limit is a stage. Processor time counts if the limit is
// the threads, or a stage that runs longer than it awaits. `found`, `stage`: the predicted limit. Returns
// none if there is no such reason.
std::optional<visible_limit> deeper_limit(const pipeline_stats& stats, limit_cause found,
                                          std::string_view stage);

// Returns the sentence of the verdict (what limits the rate); an empty string if there is no verdict.
using verdict_function = std::string (*)(const pipeline_stats& stats);

// Makes the verdict that the environment variable WEIR_DIAGNOSE=1 prints at the end of a run. Null, so that
// this verdict is made by limit_by_states(), in programs that neither write pipeline_stats to a std::ostream
// nor compile src.hpp (the bodies of all functions). These programs compile a second faster, as they don't
// contain brief_verdict().
inline constinit standard_platform::atomic<verdict_function> the_verdict_of_diagnosis{nullptr};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/limits.ipp>
#include <weir/insight/limits_by_states.ipp>
#endif

#endif
