// weir insight, internal: whether the times of a workload have changed, and how much a rate varies by chance
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TIME_DRIFT_HPP
#define WEIR_INSIGHT_TIME_DRIFT_HPP

#include <weir/insight/recording.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Returns the index of the first stage whose mean time differs from that before by more than a tenth and
// five standard deviations; none: the number of stages. Stages that work for less than a twentieth of the
// time don't count. The time of the consumer includes waits of its thread for a processor: so it has to
// differ by three tenths, and doesn't count below three tenths of the time.
std::size_t find_other_times(const recording& before, const recording& now);

// How much the rate of a lap of so many items varies by chance, as a share: twice the standard deviation of
// the mean of the times that vary most, at most 0.2.
double noise_of(const recording& lap, std::uint64_t num_items);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/time_drift.ipp>
#endif

#endif
