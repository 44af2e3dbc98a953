// weir measure: whether a channel or a run measures, chosen by type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_POLICY_HPP
#define WEIR_MEASURE_POLICY_HPP

#include <weir/platform/platform.hpp>

#include <concepts>  // for std::convertible_to

namespace weir {

/// Everything is measured; the default.
struct measured {
    using platform = detail::standard_platform;
    static constexpr bool statistics = true;
    static constexpr bool histograms = true;
};

/// Everything is measured but how durations are distributed: sums, counts, averages, rates, longest
/// durations and the slots' times are those of `measured`, and no quantile is known
/// (`histogram::has_quantiles`). A slot then takes 0.3 KB instead of 11, a channel 0.6 instead of 21.
struct summed {
    using platform = detail::standard_platform;
    static constexpr bool statistics = true;
    static constexpr bool histograms = false;
};

/// Nothing is measured but how many items passed: no clock is read for statistics, and the members
/// that would hold them are not there. A policy of a type, not a macro, so that both can be used in
/// one program.
struct unmeasured {
    using platform = detail::standard_platform;
    static constexpr bool statistics = false;
    static constexpr bool histograms = false;
};

/// Several of them, for what has to be compiled for each: see `stage_list`.
template <class...>
struct policies {};

namespace detail {

template <class P>
concept policy_like = requires {
    typename P::platform;
    { P::statistics } -> std::convertible_to<bool>;
};

template <class P>
inline constexpr bool is_policies = false;
template <class... Each>
inline constexpr bool is_policies<policies<Each...>> = (policy_like<Each> && ...);

// A policy that doesn't say keeps histograms, if it measures anything.
template <class Policy>
inline constexpr bool keeps_histograms = Policy::statistics;
template <class Policy>
    requires requires { Policy::histograms; }
inline constexpr bool keeps_histograms<Policy> = Policy::statistics && Policy::histograms;

// In a simulation each operation on a channel may be followed by any other coroutine's, also one that
// needn't wait.
template <class Policy>
inline constexpr bool ends_every_turn = false;
template <class Policy>
    requires requires { Policy::every_operation_ends_a_turn; }
inline constexpr bool ends_every_turn<Policy> = Policy::every_operation_ends_a_turn;

}  // namespace detail

}  // namespace weir

#endif
