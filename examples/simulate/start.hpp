// simulate: starts the pipeline of a spec.
// Three kinds of sources are three types of runs.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_START_HPP
#define WEIR_EXAMPLES_SIMULATE_START_HPP

#include "build.hpp"
#include "processors.hpp"
#include "spec.hpp"
#include "stage_builder.hpp"

#include <weir/executor/executor.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/stage_options.hpp>

#include <utility>  // for std::move

namespace simulate {

namespace detail {

inline weir::run_options with_failures(weir::run_options options, const pipeline_spec& spec) {
    options.max_failures = to_failure_limit(spec.max_failures);
    options.on_failure = [](const weir::failure&) {};  // prints nothing on stderr
    return options;
}

}  // namespace detail

/// Starts a pipeline on that clock. Lifetime: clock and processors outlive the run.
template <bool HasEpochs>
auto start(const pipeline_spec& spec, weir::executor& clock, processors* cpus, weir::run_options options) {
    detail::builder make{{clock, cpus}};
    options = detail::with_failures(std::move(options), spec);
    switch (spec.merge ? spec.merge->inputs.size() : 0) {
        case 1:
            return make.start<HasEpochs, 1>(spec, std::move(options));
        case 2:
            return make.start<HasEpochs, 2>(spec, std::move(options));
        case 3:
            return make.start<HasEpochs, 3>(spec, std::move(options));
        case 4:
            return make.start<HasEpochs, 4>(spec, std::move(options));
        default:
            return make.start<HasEpochs, 0>(spec, std::move(options));
    }
}

/// The same for a source that takes time.
inline auto start_timed(const pipeline_spec& spec, weir::executor& clock, processors* cpus,
                        weir::run_options options) {
    return detail::builder{{clock, cpus}}.start_timed(spec, detail::with_failures(std::move(options), spec));
}

}  // namespace simulate

#endif
