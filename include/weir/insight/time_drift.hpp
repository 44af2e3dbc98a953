// weir insight, internal: whether the times of a workload have changed, and how much a rate varies by chance
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TIME_DRIFT_HPP
#define WEIR_INSIGHT_TIME_DRIFT_HPP

#include <weir/insight/recording.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Returns the index of the first stage whose mean time has changed between two recordings; the number of
// stages: no time has changed. Returns 0, too, if the recordings have different numbers of stages. A change
// is more than 10 % of the mean plus five standard deviations of the mean. Stages that work for less than 5 %
// of the time don't count. For the consumer, 30 % replaces the 10 % and the 5 %: its time includes waits of
// its thread for a processor.
std::size_t find_other_times(const recording& before, const recording& now);

// How much the rate of a lap of so many items varies by chance, as a share: twice the standard deviation of
// the mean of the times that vary most, at most 0.2.
double noise_of(const recording& lap, std::uint64_t num_items);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/time_drift.ipp>
#endif

#endif
