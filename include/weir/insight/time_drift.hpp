// weir insight, internal: whether the times of a workload have changed, and how much a rate varies by chance
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TIME_DRIFT_HPP
#define WEIR_INSIGHT_TIME_DRIFT_HPP

#include <weir/insight/recording.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Returns the index of the first stage whose mean time has changed between two recordings, the consumer being
// the last; or the number of stages if no time has changed. Returns 0, too, if the recordings have different
// numbers of stages. A change is more than 10 % of the mean plus five standard errors of the mean. Stages
// whose invocations take less than 5 % of the time of `now` don't count. For the consumer, 30 % replaces
// both shares: its time includes waits of its thread for a processor.
std::size_t find_other_times(const recording& before, const recording& now);

// How much the rate of a lap (a part of a run) of `num_items` items varies by chance, as a share: twice the
// relative standard error of the mean time of the stage that varies most; at most 0.2.
double noise_of(const recording& lap, std::uint64_t num_items);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/time_drift.ipp>
#endif

#endif
