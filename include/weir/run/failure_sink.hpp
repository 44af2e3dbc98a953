// weir run: who hears of a failure that nobody has taken from its run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FAILURE_SINK_HPP
#define WEIR_RUN_FAILURE_SINK_HPP

#include <weir/platform/globals.hpp>
#include <weir/run/failure.hpp>

#include <cstdio>       // for std::fprintf
#include <string_view>  // for std::string_view

namespace weir {

/// Told of a run that failed and is destroyed before any consumer was thrown its failure: once, by the
/// destructor, when nothing of the run is at work any more. `run`: its stages, as `src | decode | sink`.
/// Not told where `run_options::on_failure` was.
using failure_sink = void (*)(std::string_view run, const pipeline_failure& what) noexcept;

namespace detail {

inline void print_failure(std::string_view run, const pipeline_failure& what) noexcept {
    std::fprintf(stderr, "weir: the run '%.*s' failed, and was destroyed before anybody asked: %s\n",
                 static_cast<int>(run.size()), run.data(), what.what());
}

inline constinit process_function<failure_sink> the_failure_sink{&print_failure};

}  // namespace detail

/// Sets it for all runs of the process; the one that is there from the beginning prints a line on stderr.
/// With null nobody is told.
/// \returns the one before. Threads: any.
inline failure_sink set_failure_sink(failure_sink sink) noexcept {
    return detail::the_failure_sink.replace(sink);
}

}  // namespace weir

#endif
