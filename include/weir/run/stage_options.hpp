// weir run: the options of a stage, of a run, and of all runs of a process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_OPTIONS_HPP
#define WEIR_RUN_STAGE_OPTIONS_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_report.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>          // for std::size_t
#include <functional>       // for std::function
#include <memory>           // for std::shared_ptr
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <vector>           // for std::vector

namespace weir {

/// The options of one stage; `pipe(f, {.name = "decode", .concurrency = 4})`. Checked when a run starts:
/// `std::invalid_argument` names the stage and the error.
struct stage_options {
    /// The name in statistics, failures and reports, also of the queue behind the stage. Empty: the name of
    /// the function's class, if the class has a name; else the kind and the place: `pipe#3` is the third
    /// stage behind the source. Stages inside of a stage, such as those of a branch, count, too.
    std::string name = {};

    /// The number of slots, at least 1: how many items the stage processes at the same time, and how many
    /// threads call the function at once. A slot is occupied while its result waits for room.
    std::size_t concurrency = 1;

    /// The executor of the stage; null: the run's executor. Use a `blocking_pool` for a function that blocks.
    /// Not used on virtual time (a simulated clock). Outlives the run. The stage may be on a loop that one
    /// thread runs (a `run_loop`, a game's loop): that thread also runs the loop while it blocks for an item
    /// or the end of the run.
    weir::executor* executor = nullptr;

    /// `output_order::input` keeps the order of the items. A result that is finished before an earlier item's
    /// result counts for the limits of the queue behind the stage, and so do the places kept for the missing
    /// results. Its slot goes on with the next item, and waits only if the queue has no place for the result
    /// (`slot_times::wait_turn`). So with a capacity of several times the concurrency, a slow item does not
    /// hold up the other slots. A slot that begins to wait searches its place behind the slots that wait with
    /// earlier results. With thousands of slots, this takes long: give the queue several places for each
    /// slot. If each result holds an object of a pool, the pool needs an object for each slot and each place
    /// of the queue: else an item without an object would wait for later items' results, which wait for this
    /// item.
    weir::output_order output_order = weir::output_order::completion;

    /// The capacity of the queue behind the stage, in items, at least 1.
    std::size_t capacity = 2;

    /// A second limit of the queue behind the stage, in bytes; 0: none. See `item_size`. The limits of the
    /// queues before and behind a `sink` (the last stage) are added, and the sum applies to both queues
    /// together: so a limit of only one of the two limits both.
    std::size_t max_bytes = 0;

    /// How many items may fail; one more stops the run. Not set: failures count towards the run's limit.
    std::optional<failure_limit> max_failures = std::nullopt;

    /// How long one invocation may take; 0: no limit. An invocation that reaches the limit fails with
    /// `time_limit_exceeded`, and its result, if any, is dropped. At the limit, `invocation::stop` is
    /// stopped, and awaited sleeps, channel operations and others (see `stopped`) end with the exception
    /// `stopped`. The slot continues when the function has ended. Without effect on other stages than `pipe`,
    /// `filter`, `traverse`, `batch_slots` and `for_each`; an error for a `pipe` that gives many items for
    /// one. Costs two allocations and a timer for each invocation.
    duration time_limit = duration(0);

    /// For a function from a batch to a batch: element k of the result is made of element k of the argument,
    /// and of no other. A checkpoint then knows of which draws (indices that a sampler chose) each element
    /// behind a `disaggregate` (divides batches into elements) was made. If a function sorts or replaces
    /// elements although `elementwise` is true, a run that continues from a checkpoint repeats some draws and
    /// loses others.
    bool elementwise = false;

    /// Called around this stage and each of its invocations, inside of the hooks of the run; the first hook
    /// is the outermost.
    std::vector<shared_hook> hooks = {};

    /// The source location of the stage: of the braces of its options, or of the call without options.
    /// Reports show `loader.cpp:42`. Options that were made without braces have no place: nothing is shown.
    std::source_location where = detail::call_place::current();
};

/// The options of one run of a pipeline.
struct run_options {
    /// How many items may fail in all stages without a limit of their own; one more stops the run.
    failure_limit max_failures = {};

    /// Called for every item that failed, within the limit or not, before the stage continues.
    /// Threads: those that call the functions (`consumers_help`), several at once. Errors: an exception stops
    ///          the run; `pipeline_failure` then has the item's failure, and behind it the exception.
    std::function<void(const failure&)> on_failure = nullptr;

    /// Called around every invocation and every stage; the first hook is the outermost.
    std::vector<shared_hook> hooks = {};

    /// The limit of bytes in all queues of the run together; 0: none. Above the limit, sources make no new
    /// items. Items in stages are not counted, and results may be larger than their items, so queues may hold
    /// more. Of several sources, each may use its share of the limit, so that no source waits for the items
    /// of another source.
    std::size_t max_bytes = 0;

    /// Of several stages that are ready on the executor of the run, the one nearest to the end runs first
    /// (`priority_lanes`). So few items are in the pipeline, each for a short time. Costs some 100 ns for
    /// each resumption of a slot.
    bool later_stages_first = false;

    /// Whether a thread that waits for an item of the run (in `run::get` without a time limit, a loop over
    /// the run, or `sync_wait` of a coroutine that calls `next`) works in the place of one of the pool's
    /// threads meanwhile: then the thread need not sleep and be woken for each item. Functions of the stages
    /// run on that thread, too, as long as a call takes some microseconds at most; less than one microsecond
    /// if the pool has several workers on several processors. So do hooks, callbacks (`on_lap`, `on_end`,
    /// `on_failure`) and reports, however long they take. The number of functions that run at once stays the
    /// same. Without effect if another run or a task group uses the pool, if a stage is on a loop (an
    /// executor without threads of its own), if the pool has a function `on_thread_start`, or in a call
    /// within a coroutine. Set the option to false if these functions must not run on the thread: because the
    /// thread owns a window or a device context, has a small stack, or holds a mutex that the functions lock.
    bool consumers_help = true;

    /// The length of a lap by the executor's clock. From the start on, the run is divided into laps, and the
    /// statistics of each lap are reported. 0: laps of a second if there are `reports`; else those of
    /// `run_defaults::lap`, if the run calls `run_defaults::on_lap`; else none.
    duration lap = duration(0);

    /// The maximum size of a random sample of the invocations of each stage (`stage_stats::samples`), and of
    /// the times that the user's code spends on an item of the run (`pipeline_stats::consumer`). 0: no
    /// samples. For `record_of`, which makes a recording of a run to predict other runs: predictions then use
    /// the true times; 1000 are enough. Without effect if the run has no statistics.
    std::size_t recording = 0;

    /// Called with the statistics of each whole lap, at its end.
    /// Threads: one of the executor's, or a consumer's (`consumers_help`); one call at a time. Errors: an
    ///          exception stops the run, and so does a lack of memory for the statistics.
    std::function<void(const pipeline_stats&)> on_lap = nullptr;

    /// Called when all stages have ended, for whatever reason, with the statistics since the last whole lap,
    /// and of the whole run. These statistics lack items that a consumer takes later.
    /// Threads: as `on_lap`. The call has returned before `stop` or the run's destructor does, but maybe not
    ///          when a consumer sees the end. Errors: an exception is a failure of the run: a later wait
    ///          throws it, else the `failure_sink` gets it; dropped if another failure was thrown before.
    std::function<void(const pipeline_stats& rest, const pipeline_stats& all)> on_end = nullptr;

    /// Reports of the run: see `run_report`. Called before the functions above; not null. If a report fails,
    /// a warning is printed (`set_report_warning`), and the run continues.
    std::vector<std::shared_ptr<run_report>> reports = {};

    /// A stop of this token stops the run, as `run::request_stop` does. For Ctrl-C: `stop_on_signals`.
    stop_token stop = {};
};

/// Defaults for the options of all runs of a process: see `set_defaults`.
struct run_defaults {
    /// Called around the hooks of each run.
    std::vector<shared_hook> hooks = {};

    /// For runs without their own: see `run_options::on_failure`.
    std::function<void(const failure&)> on_failure = nullptr;

    /// The length of a lap, for runs that call `run_defaults::on_lap`; 0: no laps. Not used for a run that
    /// sets `run_options::lap`, or that has `reports`, which make its laps one second long.
    duration lap = duration(0);

    /// For runs without their own: see `run_options::on_lap`. Several runs may call it at once.
    std::function<void(const pipeline_stats&)> on_lap = nullptr;
    /// For runs without their own: see `run_options::on_end`.
    std::function<void(const pipeline_stats& rest, const pipeline_stats& all)> on_end = nullptr;
};

namespace detail {

struct kept_defaults {
    spin_lock lock;
    std::shared_ptr<const run_defaults> kept;  // null: none were set

    std::shared_ptr<const run_defaults> read();
};

// Never destroyed: a run may begin before main, and after it.
inline constinit no_destroy<kept_defaults> the_defaults;

// Returns the options of a run that starts. The hooks of the defaults come before those of the run.
// `on_failure`, `on_lap` and `on_end` are those of the defaults if the run has none. The lap: see
// `run_defaults::lap`.
run_options with_defaults(run_options options);

}  // namespace detail

/// \returns the current defaults. Threads: any. Errors: `std::bad_alloc`.
[[nodiscard]] run_defaults defaults();

/// Sets the defaults for all runs that start from now on. For tracing and logging of a whole program; a
/// library should not call it.
///
///     weir::set_defaults({.hooks = {std::make_shared<tracer>()}});
///
/// \returns the previous defaults.
/// Errors:   `std::bad_alloc`, without a change.
/// Threads:  any.
/// Lifetime: the defaults are kept until they are replaced and the last run that uses them is destroyed; not
///           destroyed at the end of the program.
run_defaults set_defaults(run_defaults all);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/stage_options.ipp>
#endif

#endif
