// weir insight: the verdict that ends reports: made in milliseconds, and only if there is enough to judge
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_BRIEF_VERDICT_HPP
#define WEIR_INSIGHT_BRIEF_VERDICT_HPP

#include <weir/insight/limits.hpp>
#include <weir/insight/verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

#include <optional>  // for std::optional
#include <string>    // for std::string

namespace weir {

/// Makes the verdict that tables, log lines and all other reports show: what limits the rate of a run. The
/// same as `explain`, but with fewer items in each simulation, with `predict_options::resamples` only for the
/// two most likely causes, and without `what_if_options::calibrate`.
///
///     if (const auto v = weir::brief_verdict(run.stats())) std::cerr << v->sentence << '\n';
///
/// \param stats  of a whole run, or of a lap (a part of a run): the difference of two `run::stats`.
/// \returns the verdict. None if the consumer has got fewer than 20 items; if a stage has finished 1 to 19
///          invocations; or if the simulations would take longer than 0.1 s, or than `stats.elapsed`. If the
///          run can't be predicted, the verdict is made from the states of its slots (workers of stages);
///          none if these tell nothing. `explain` returns a verdict in all these cases; its cause may be
///          `limit_cause::unsure`.
/// Errors: `std::bad_alloc`. Cost: about 10 to 20 ms for five stages.
[[nodiscard]] std::optional<verdict> brief_verdict(const pipeline_stats& stats);

namespace detail {

// The estimated time that `brief_verdict` needs. The estimate is the same on each machine, so that a run on
// virtual time has the same reports everywhere.
duration cost_of_brief_verdict(const pipeline_stats& stats) noexcept;

// Returns the sentence of `brief_verdict`; an empty string if there is no verdict.
std::string brief_sentence(const pipeline_stats& stats);

// If a program refers to `is_set`, its initialization before `main` makes WEIR_DIAGNOSE=1 print the brief
// verdict at the end of a run. A template, so that other programs don't compile that verdict.
template <class T>
struct verdict_of_diagnosis {
    // Release: pairs with the acquire load in conclusion_text(). Only the pointer is published.
    static inline const bool is_set =
        (the_verdict_of_diagnosis.store(&brief_sentence, std::memory_order_release), true);
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/brief_verdict.ipp>
#endif

#endif
