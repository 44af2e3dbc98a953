// weir measure: policies: template arguments that choose what a channel or a started pipeline measures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_POLICY_HPP
#define WEIR_MEASURE_POLICY_HPP

#include <weir/platform/platform.hpp>

#include <concepts>     // for std::convertible_to
#include <type_traits>  // for std::conditional_t

namespace weir {

/// Everything is measured; the default.
struct measured {
    using platform = detail::standard_platform;
    static constexpr bool statistics = true;
    static constexpr bool histograms = true;
};

/// Everything is measured except histograms: sums, counts, averages, rates, maxima and the slots' times are
/// those of `measured`, but no quantile is known (`histogram::has_quantiles`). A slot (a worker of a stage)
/// takes 0.3 KB, with `measured` 1.7; a channel takes 0.6 KB, with `measured` 3.4.
struct summed {
    using platform = detail::standard_platform;
    static constexpr bool statistics = true;
    static constexpr bool histograms = false;
};

/// Only items are counted: no clock is read for statistics, and classes have no members for times. Policies
/// are types and not macros, so that one program can use several.
struct unmeasured {
    using platform = detail::standard_platform;
    static constexpr bool statistics = false;
    static constexpr bool histograms = false;
};

/// A list of policies. A `stage_list`, whose stages are chosen at run time, is compiled for each policy of
/// its list.
template <class...>
struct policies {};

namespace detail {

template <class P>
concept policy_like = requires {
    typename P::platform;
    { P::statistics } -> std::convertible_to<bool>;
};

// Refuses a type `P` that is no policy. `type`: the policy; of a refused type `measured`, so that no error of
// another class follows.
template <class P>
struct checked_policy {
    // Before the assertion: clang ignores what follows one that fails.
    using type = std::conditional_t<policy_like<P>, P, measured>;
    static_assert(policy_like<P>,
                  "weir: what measures a channel or a run, or doesn't, is a policy, and this is none: "
                  "weir::measured, weir::summed or weir::unmeasured");
};
template <class P>
using checked_policy_t = typename checked_policy<P>::type;

template <class P>
inline constexpr bool is_policies = false;
template <class... Each>
inline constexpr bool is_policies<policies<Each...>> = (policy_like<Each> && ...);

// Whether the policy keeps histograms. A policy without the member `histograms` keeps them if it has
// statistics.
template <class Policy>
inline constexpr bool keeps_histograms = Policy::statistics;
template <class Policy>
    requires requires { Policy::histograms; }
inline constexpr bool keeps_histograms<Policy> = Policy::statistics && Policy::histograms;

// Whether each channel operation suspends its coroutine, even if it need not wait, so that any other
// coroutine may run next. True only for policies of simulations.
template <class Policy>
inline constexpr bool ends_every_turn = false;
template <class Policy>
    requires requires { Policy::every_operation_ends_a_turn; }
inline constexpr bool ends_every_turn<Policy> = Policy::every_operation_ends_a_turn;

}  // namespace detail

}  // namespace weir

#endif
