// weir run: what every run of the process has that isn't told otherwise
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_DEFAULTS_HPP
#define WEIR_RUN_RUN_DEFAULTS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/globals.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>

#include <functional>  // for std::function
#include <memory>      // for std::shared_ptr
#include <mutex>       // for std::lock_guard
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace weir {

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
