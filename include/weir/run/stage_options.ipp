// weir run, internal: bodies of the functions of run/stage_options.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_OPTIONS_IPP
#define WEIR_RUN_STAGE_OPTIONS_IPP

#include <weir/run/stage_options.hpp>

#include <weir/platform/config.hpp>

#include <mutex>    // for std::lock_guard
#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE std::shared_ptr<const run_defaults> kept_defaults::read() {
    const std::lock_guard guard(lock);
    return kept;
}

WEIR_INLINE run_options with_defaults(run_options options) {
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

}  // namespace weir::detail

namespace weir {

WEIR_INLINE run_defaults defaults() {
    const auto all = detail::the_defaults->read();
    return all == nullptr ? run_defaults() : *all;
}

WEIR_INLINE run_defaults set_defaults(run_defaults all) {
    std::shared_ptr<const run_defaults> changed = std::make_shared<const run_defaults>(std::move(all));
    {
        const std::lock_guard guard(detail::the_defaults->lock);
        changed.swap(detail::the_defaults->kept);
    }
    return changed == nullptr ? run_defaults() : *changed;
}

}  // namespace weir

#endif
