// weir insight: compares two runs: which stage takes longer or shorter, and what that changes
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_DIFF_HPP
#define WEIR_INSIGHT_DIFF_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/run_difference.hpp>
#include <weir/measure/stats.hpp>

namespace weir {

/// The options of `diff`.
struct diff_options {
    /// The greatest probability that `diff` names a difference though both runs are equal; above 0, below 1.
    double level = 0.002;
    /// A smaller change of a time or rate is not named, even if the change is certain: even without a change,
    /// two runs on the same machine differ by about this share. 0.03 is 3 %.
    double least_change = 0.03;
    bool explain = true;  ///< whether to make a verdict on each run, which takes most of the time
};

/// Compares two runs of one pipeline: before and after a change.
///
///     std::cout << weir::diff(weir::read_run("monday.json").total, run.stats());
///
/// For each stage, `diff` tests two changes: that of the average time, and that of the typical time (the
/// geometric mean). Both tests are Welch's test. They compare the logarithm of the average time, and the mean
/// of the logarithms of the times. If the times have a long tail, the typical time is known more precisely.
/// `level` is divided among all tests, so that the comparison as a whole keeps the level (Bonferroni).
/// Invocations count as independent: if times drift during a run, the drift counts as a difference of the
/// runs.
///
/// `diff` does not name a change smaller than `least_change`. Nor does it name a change of a stage's time
/// below 0.2 % of the total time of the stage's slots (workers). For a consumer of which only the average
/// time is known, this limit is 5 %.
///
/// Stages are matched by name. If one run lacks a stage, `run_difference::settings` names the stage, and the
/// other stages are compared.
///
/// \param before  the statistics of the first run, or its recording.
/// \param after   those of the second run.
/// \returns the difference. `stage_difference::detectable` is the smallest change of a stage's time that
///          `diff` would have named in 95 of 100 cases.
/// Errors: `std::invalid_argument` for a `level` that is not between 0 and 1, and for a negative
///         `least_change`. Statistics that can't be compared are no error: see `run_difference::refused`.
/// Cost:   two calls of `explain` if `diff_options::explain`, and 32 simulations if anything changed.
/// Source: B. L. Welch, "The generalization of Student's problem when several different population variances
///         are involved", Biometrika 34 (1947).
[[nodiscard]] run_difference diff(const pipeline_stats& before, const pipeline_stats& after,
                                  const diff_options& options = {});

/// The same as `diff` above, for two recordings. A recording has no states of slots: the states are those of
/// predictions.
[[nodiscard]] run_difference diff(const recording& before, const recording& after,
                                  const diff_options& options = {});

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/diff.ipp>
#endif

#endif
