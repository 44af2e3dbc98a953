// weir insight, internal: the function from which WEIR_DIAGNOSE=1 gets its verdict, if a program has it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_VERDICT_OF_DIAGNOSIS_HPP
#define WEIR_INSIGHT_VERDICT_OF_DIAGNOSIS_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/platform.hpp>

#include <string>  // for std::string

namespace weir::detail {

// Returns the sentence of the verdict (what limits the rate); an empty string if there is no verdict.
using verdict_function = std::string (*)(const pipeline_stats& stats);

// Called at the end of a run if WEIR_DIAGNOSE=1 is set. Null in programs that don't write pipeline_stats to a
// stream: brief_verdict() would take each program a second more to compile.
inline constinit standard_platform::atomic<verdict_function> the_verdict_of_diagnosis{nullptr};

}  // namespace weir::detail

#endif
