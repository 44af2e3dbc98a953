// weir floor 5: what can be set for a stage, and for a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGE_OPTIONS_HPP
#define WEIR_STAGE_OPTIONS_HPP

#include <weir/clock.hpp>
#include <weir/executor.hpp>
#include <weir/failure.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>

#include <cstddef>     // for std::size_t
#include <functional>  // for std::function
#include <optional>    // for std::optional
#include <string>      // for std::string

namespace weir {

/// Of one stage; `pipe(f, {.name = "decode", .concurrency = 4})`. Checked when a run starts:
/// `std::invalid_argument` names the stage and what is wrong.
struct stage_options {
    /// In statistics, failures and reports. The queue behind the stage carries it too.
    std::string name = {};

    /// How many items the stage works on at the same time: its slots, at least 1. A slot is held
    /// while its result waits for room. The function is called by as many threads at once.
    std::size_t concurrency = 1;

    /// Where the stage runs; null: where the run was started. A `blocking_pool` for a function that
    /// blocks. On virtual time, which runs everything by itself, it is not used.
    weir::executor* executor = nullptr;

    /// Of the queue behind the stage, in items, at least 1.
    std::size_t capacity = 2;

    /// How many items may fail before the run stops; not set: they count towards the run's limit.
    std::optional<failure_limit> max_failures = std::nullopt;
};

/// Of one run of a pipeline.
struct run_options {
    /// How many items may fail, in all stages that have no limit of their own, before the run stops.
    failure_limit max_failures = {};

    /// Told of every item that failed, tolerated or not, before the stage goes on.
    /// Threads: the stage's, several at once. An exception from it stops the run, as a failure.
    std::function<void(const failure&)> on_failure = nullptr;

    /// The length of a lap; 0: no laps. Laps begin at the start, on the executor's clock.
    duration lap = duration(0);

    /// Given the statistics of each whole lap, at its end: the figures of that lap alone.
    /// Threads: one of the executor's, one lap at a time. An exception from it stops the run.
    std::function<void(const pipeline_stats&)> on_lap = nullptr;

    /// Stops the run when asked, as `run::stop` does, without waiting for the end.
    stop_token stop = {};
};

}  // namespace weir

#endif
