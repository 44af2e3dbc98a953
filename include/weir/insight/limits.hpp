// weir insight: what limits the rate of a pipeline, judged by the measured states of its slots alone
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_LIMITS_HPP
#define WEIR_INSIGHT_LIMITS_HPP

#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>

#include <cstdint>      // for std::uint8_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir {

/// What limits the rate of a pipeline. A slot is a worker of a stage.
enum class limit_cause : std::uint8_t {
    stage,       ///< a stage: its function works or awaits
    room,        ///< the queues: they have too little room for times that vary
    order,       ///< a stage in order: finished items wait for earlier ones
    batch,       ///< the size of batches
    threads,     ///< the number of threads
    source,      ///< the source
    consumer,    ///< the consumer: the pipeline keeps up
    blocking,    ///< a function that blocks its thread, so that other stages have too few threads
    processors,  ///< the processors: all of them are busy, perhaps with other programs
    failures,    ///< items that fail, and take time before they do
    retries,     ///< calls that fail and are repeated: see `retry`
    bytes,       ///< a limit of bytes: `stage_options::max_bytes`, `run_options::max_bytes`
    blocks,      ///< blocks of a pool, or memory of the device: a stage waits for a free one
    copies,      ///< copies to or from a device
    overhead,    ///< the time to move items, as the tasks are as short
    balanced,    ///< nothing alone: no single change would bring 5 %
    unsure,      ///< unknown
};

/// \returns the name of the cause in reports: that of the enumerator; for `threads`, "workers".
/// Lifetime: static.
[[nodiscard]] std::string_view name_of(limit_cause cause) noexcept;

namespace detail {

// A limit that the states of the slots show.
struct visible_limit {
    limit_cause cause = limit_cause::unsure;
    std::string stage = {};     // the name of the stage that limits; empty: none
    double lost = 0;            // the share of the time in which the consumer waits for items
    std::string sentence = {};  // the figures that show the limit, and what to do
};

// `verdict::sure` for verdicts from states alone: limit_by_states is right in about so many cases.
inline constexpr double sure_of_states = 0.7;

// \returns "awaits 98 % of the time", or "is at work ...", whichever took more of the time in which slots
//          were not off; empty if slots neither worked nor awaited.
std::string state_text(const slot_times& times);

// Judges the states alone, for runs that no simulation explains: with branches, without histograms, or with
// times that depend on the load. The effect of a change is unknown. Of the 240 pipelines in
// tests/programs/explain/verdict.test.cpp, which run on virtual time, it judges 180 right. The others need
// another size of batches, or more threads in a pool on virtual time: neither shows in the states.
visible_limit limit_by_states(const pipeline_stats& stats);

// Looks for the reason behind a limit that a prediction has found, in figures that predictions don't use:
// processor time, failures, repeated calls, copies, waits for blocks. `found`, `stage`: the predicted limit.
std::optional<visible_limit> deeper_limit(const pipeline_stats& stats, limit_cause found,
                                          std::string_view stage);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/limits.ipp>
#endif

#endif
