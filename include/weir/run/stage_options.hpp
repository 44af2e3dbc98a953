// weir run: the options of a stage, of a run, and of all runs of a process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_OPTIONS_HPP
#define WEIR_RUN_STAGE_OPTIONS_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/globals.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_report.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>          // for std::size_t
#include <functional>       // for std::function
#include <memory>           // for std::shared_ptr
#include <mutex>            // for std::lock_guard
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// In which order the items leave a stage with several slots.
enum class output_order {
    completion,  ///< as they are done
    input,       ///< as they came; who is done early waits for its turn (`slot_times::wait_turn`)
};

/// Of one stage; `pipe(f, {.name = "decode", .concurrency = 4})`. Checked when a run starts:
/// `std::invalid_argument` names the stage and what is wrong.
struct stage_options {
    /// In statistics, failures and reports. The queue behind the stage carries it too. Empty: that of the
    /// class of its function, if that is one with a name; else its kind and its place: `pipe#3` is the third
    /// stage behind the source, which is 0, counted in the order in which `pipeline::options` lists them.
    std::string name = {};

    /// How many items the stage works on at the same time: its slots, at least 1. A slot is held
    /// while its result waits for room. The function is called by as many threads at once.
    std::size_t concurrency = 1;

    /// Where the stage runs; null: where the run was started. A `blocking_pool` for a function that
    /// blocks. On virtual time, which runs everything by itself, it is not used. Outlives the run.
    weir::executor* executor = nullptr;

    /// `output_order::input` keeps the order at the price of slots that wait, done, for one that takes long.
    weir::output_order output_order = weir::output_order::completion;

    /// Of the queue behind the stage, in items, at least 1.
    std::size_t capacity = 2;

    /// A limit in bytes of that queue, beside the one in items; 0: none. See `item_size`. That of a sink's
    /// queue and that of the queue before it are one: what both may hold together.
    std::size_t max_bytes = 0;

    /// How many items may fail before the run stops; not set: they count towards the run's limit.
    std::optional<failure_limit> max_failures = std::nullopt;

    /// How long one invocation may take; 0: as long as it likes. One that takes so long has failed, with
    /// `time_limit_exceeded`, and its result, if any, is dropped. At the limit whatever it awaits ends that a
    /// stop of the run ends, with `stopped`, whose documentation lists that; `invocation::stop` asks the
    /// function to end all else. It is never left behind: the slot goes on when it has ended.
    duration time_limit = duration(0);

    /// Of a function from a batch to a batch: that element k of what it gives is made of element k of what it
    /// was given, and of no other. So a checkpoint knows which draws the elements are made of that a
    /// `disaggregate` behind it gives one by one. With it, a function that sorts or replaces elements makes
    /// draws come twice after a resumption, and others never.
    bool elementwise = false;

    /// Called around every invocation of this stage, inside of those of the run, in this order.
    std::vector<shared_hook> hooks = {};

    /// Where the stage was composed: the line of the braces of its options, or of the call that has none.
    /// Reports say it as `loader.cpp:42`, unless the options were made without braces.
    std::source_location where = detail::call_place::current();
};

/// Of one run of a pipeline.
struct run_options {
    /// How many items may fail, in all stages that have no limit of their own, before the run stops.
    failure_limit max_failures = {};

    /// Told of every item that failed, tolerated or not, before the stage goes on.
    /// Threads: the stage's, several at once. An exception from it stops the run, as a failure.
    std::function<void(const failure&)> on_failure = nullptr;

    /// Called around every invocation and every stage, in this order.
    std::vector<shared_hook> hooks = {};

    /// How many bytes may lie in all queues of the run together; 0: any number. While there are more, the
    /// sources make no new item: what is under way may grow, and what a stage has in hand isn't counted. Of
    /// several sources each has a share: with less than that behind it it goes on, so that none waits for
    /// what only another can let go.
    std::size_t max_bytes = 0;

    /// Where several stages are ready to run on the executor that the run was started on, the one that
    /// is nearest to the end goes first (`priority_lanes`): little is under way, and what has begun is
    /// soon done, at the price of some 100 ns for each time a stage wakes.
    bool later_stages_first = false;

    /// The length of a lap; 0: no laps, or of a second each if there are `reports`. Laps begin at the start,
    /// on the executor's clock.
    duration lap = duration(0);

    /// Given the statistics of each whole lap, at its end: the figures of that lap alone.
    /// Threads: one of the executor's, one lap at a time. An exception from it stops the run, and so does a
    /// lack of memory for the statistics.
    std::function<void(const pipeline_stats&)> on_lap = nullptr;

    /// Given the statistics of what came after the last whole lap, and those of the whole run, when the last
    /// stage has left, however the run ended; what a consumer takes after that isn't in them.
    /// Threads: as `on_lap`, after it. It has been called when `stop` or the run's destructor returns, and
    /// perhaps not yet when a consumer sees the end. An exception from it is a failure of the run.
    std::function<void(const pipeline_stats& rest, const pipeline_stats& all)> on_end = nullptr;

    /// Told of its begin, laps, failures and end, each before the functions above; not null. One that fails
    /// is warned of (`set_report_warning`), and the run goes on.
    std::vector<std::shared_ptr<run_report>> reports = {};

    /// Stops the run when asked, as `run::request_stop` does. For Ctrl-C: `stop_on_signals`.
    stop_token stop = {};
};

/// Of every run that begins in this process: see `set_defaults`.
struct run_defaults {
    /// Around those of the run.
    std::vector<shared_hook> hooks = {};

    /// Where a run has none of its own: see `run_options::on_failure`.
    std::function<void(const failure&)> on_failure = nullptr;

    /// Of runs that have no `run_options::on_lap` of their own; 0: no laps.
    duration lap = duration(0);

    /// Goes with `lap`. Runs tell of their laps at the same time.
    std::function<void(const pipeline_stats&)> on_lap = nullptr;
    /// Where a run has none of its own: see `run_options::on_end`.
    std::function<void(const pipeline_stats& rest, const pipeline_stats& all)> on_end = nullptr;
};

namespace detail {

struct kept_defaults {
    spin_lock lock;
    std::shared_ptr<const run_defaults> kept;  // null: none were set

    std::shared_ptr<const run_defaults> read() {
        const std::lock_guard guard(lock);
        return kept;
    }
};

// A run may begin before main, and after it.
inline constinit no_destroy<kept_defaults> the_defaults;

// Of a run that begins now.
inline run_options with_defaults(run_options options) {
    if (options.lap == duration(0) && !options.reports.empty()) options.lap = duration(1'000'000'000);
    const std::shared_ptr<const run_defaults> all = the_defaults->read();
    if (all == nullptr) return options;
    options.hooks.insert(options.hooks.begin(), all->hooks.begin(), all->hooks.end());
    if (!options.on_failure) options.on_failure = all->on_failure;
    if (!options.on_end) options.on_end = all->on_end;
    if (!options.on_lap && all->on_lap) {
        options.on_lap = all->on_lap;
        if (options.lap == duration(0)) options.lap = all->lap;
    }
    return options;
}

}  // namespace detail

/// \returns what runs that begin now get. Threads: any. Errors: `std::bad_alloc`.
[[nodiscard]] inline run_defaults defaults() {
    const auto all = detail::the_defaults->read();
    return all == nullptr ? run_defaults() : *all;
}

/// Sets it for all runs that begin from now on; those that have begun keep what they have. For a program's
/// own tracing and logging: a library leaves it alone.
///
///     weir::set_defaults({.hooks = {std::make_shared<tracer>()}});
///
/// \returns what it was before.
/// Errors:   `std::bad_alloc`, and nothing has changed.
/// Threads:  any.
/// Lifetime: what is set is kept until something else is and the last run that has it is gone; it is not
///           destroyed at the end of the program.
inline run_defaults set_defaults(run_defaults all) {
    std::shared_ptr<const run_defaults> changed = std::make_shared<const run_defaults>(std::move(all));
    {
        const std::lock_guard guard(detail::the_defaults->lock);
        changed.swap(detail::the_defaults->kept);
    }
    return changed == nullptr ? run_defaults() : *changed;
}

}  // namespace weir

#endif
