// weir insight: compares two runs: which stage takes longer or shorter, and what that changes
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_DIFF_HPP
#define WEIR_INSIGHT_DIFF_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/time_comparison.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>   // for std::ptrdiff_t, std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <ostream>   // for std::ostream
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// How the share of one state in the time of a stage's slots (workers) differs between two runs. The time in
/// which a slot is `off` (not begun, or ended) counts for no share.
struct state_difference {
    std::string stage = {};  ///< the name of the stage
    std::string state = {};  ///< the name of the member of `slot_times`, as `wait_get`
    double before = 0;       ///< the share of the slots' time in the first run; 0 to 1
    double after = 0;        ///< this share in the second run
    /// The 95 % confidence interval of `after - before`, by simulations of both runs. None if a run can't
    /// be simulated.
    std::optional<confidence_interval> change = std::nullopt;
};

/// The difference of the times of one stage between two runs.
struct stage_difference {
    std::string stage = {};          ///< the name of the stage
    bool has_changed = false;        ///< whether the times differ by more than chance, and enough: see `diff`
    bool is_typical = false;         ///< whether `before` to `interval` are of geometric means, not averages
    bool is_exact = false;           ///< the times of both runs are exact: all were recorded, not a sample
    std::uint64_t num_before = 0;    ///< successful invocations in the first run
    std::uint64_t num_after = 0;     ///< the same in the second run
    duration before{};               ///< the average time of an invocation in the first run; see `is_typical`
    duration after{};                ///< the same in the second run
    double change = 0;               ///< the difference as a share: 0.1 is 10 % longer
    confidence_interval interval{};  ///< the 95 % confidence interval of `change`
    /// The least change, as a share, that `diff` names in 95 of 100 pairs of runs with as many invocations as
    /// these runs. None if there are too few invocations to compare.
    std::optional<double> detectable = std::nullopt;
    double failed_before = 0;  ///< the share of invocations that failed in the first run; 0 to 1
    double failed_after = 0;   ///< the same in the second run
    /// Whether the shares differ beyond chance; false if both runs together have fewer than 10 failures.
    bool failures_changed = false;
};

/// The result of `diff`.
struct run_difference {
    std::string refused = {};                ///< why the runs can't be compared; empty if they can be
    std::vector<std::string> settings = {};  ///< as "concurrency of a: 2 -> 4"; also stages of one run only
    /// The stages of both runs that take time, and the consumer, which takes the results.
    std::vector<stage_difference> stages = {};
    std::vector<state_difference> states = {};  ///< the states that changed; only if `has_difference`
    bool rate_changed = false;        ///< whether the rates differ beyond chance, by `least_change` or more
    double rate_before = 0;           ///< items per second in the first run
    double rate_after = 0;            ///< items per second in the second run
    std::string verdict_before = {};  ///< why the first run was not faster: `verdict::sentence`;
                                      ///< empty if `diff_options::explain` is false
    std::string verdict_after = {};   ///< the same for the second run

    /// \returns whether a time, a share of failures, the rate or a setting changed.
    [[nodiscard]] bool has_difference() const noexcept;

    /// \returns the difference in a sentence, without a full stop at its end; or "no difference was seen"; or
    ///          why the runs can't be compared.
    [[nodiscard]] std::string sentence() const;

    /// \returns everything in lines of text: the sentence; the rates; the states that changed; the verdicts;
    ///          and which changes the runs are long enough to show. Only the sentence if the runs can't be
    ///          compared.
    [[nodiscard]] std::string text() const;

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const run_difference& d) { return out << d.text(); }
};

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
/// \param before  the statistics of the first run, or its recording (settings, and a sample of the times).
/// \param after   those of the second run.
/// \returns the difference. `stage_difference::detectable` is the smallest change of a stage's time that
///          `diff` would have named in 95 of 100 cases.
/// Errors: `std::invalid_argument` for a `level` that is not between 0 and 1, and for a negative
///         `least_change`. Statistics that can't be compared are no error: see `run_difference::refused`.
/// Cost:   two calls of `explain` if `diff_options::explain`, which is then most of it; and 32 simulations of
///         about 40,000 invocations, 0.1 s, if anything changed.
/// Source: B. L. Welch, "The generalization of Student's problem when several different population variances
///         are involved", Biometrika 34 (1947).
[[nodiscard]] run_difference diff(const pipeline_stats& before, const pipeline_stats& after,
                                  const diff_options& options = {});

/// The same as `diff` above, for two recordings. A recording has no states of slots: the states are those of
/// predictions.
[[nodiscard]] run_difference diff(const recording& before, const recording& after,
                                  const diff_options& options = {});

}  // namespace weir

namespace weir::detail {

// A stage, or the consumer, of a run.
struct compared_stage {
    std::string name;
    bool is_consumer = false;     // a stage may have the name "consumer", too
    std::size_t concurrency = 1;  // the number of slots, the workers of the stage
    std::size_t capacity = 0;     // of the queue behind the stage, in items; 0 if unknown or none
    bool keeps_order = false;
    std::size_t threads = 0;  // of the stage's executor; 0 if unlimited or unknown
    double batch_size = 0;    // as `stage_settings::batch_size`; 0: makes no batches, or unknown
    std::uint64_t num_tasks = 0;
    std::uint64_t num_failures = 0;
    // The share of the slots' time in which the function works or awaits, without `off`; of the consumer, the
    // share of the run's time. None if all slots were always off.
    std::optional<double> busy = std::nullopt;
    time_sample times = {};
    slot_times states = {};
};

class compared_run {
  public:
    explicit compared_run(const pipeline_stats& stats);
    explicit compared_run(const recording& from);

    // An upper bound for the square of the relative standard error of `rate`.
    double rate_error() const noexcept;

    std::string refused;  // why the run can't be compared; empty if it can be
    std::vector<compared_stage> stages;
    double rate = 0;  // items per second; 0 if unknown
    std::uint64_t num_items = 0;
    std::optional<recording> model;  // for simulations of the run; none if it can't be simulated
    std::string no_model;            // why there is no model

  private:
    // Adds the consumer, unless it takes no time. Uses `rate`, which the caller has set.
    void add(const recorded_stage& consumer);
};

// A stage of the first run, and its counterpart in the second run: see pairs_of().
struct stage_pair {
    const compared_stage* before;
    const compared_stage* after;

    bool has_times() const noexcept { return before->times.time.mean > 0 || after->times.time.mean > 0; }
};

// Stages of the same name, in the order of the first run. Of several stages of one name, the first ones are
// paired, then the second ones, and so on. A consumer is paired only with a consumer. Stages without a
// counterpart are left out.
std::vector<stage_pair> pairs_of(const compared_run& before, const compared_run& after);

// Sentences on settings that differ, "concurrency of decode: 2 -> 4", and on stages that only one run has.
// A consumer that only one run has is left out.
std::vector<std::string> changed_settings(const compared_run& before, const compared_run& after,
                                          const std::vector<stage_pair>& pairs);

// Returns the states whose share of the slots' time differs by more than chance, and by at least 2 % of that
// time; by at least 5 %, if a run can't be simulated, because chance is then unknown.
std::vector<state_difference> changed_states(const compared_run& before, const compared_run& after,
                                             const std::vector<stage_pair>& pairs);

// The sentence of the verdict of `explain` on the run's `model`, or why there is no verdict.
std::string verdict_on(const compared_run& run);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/compared_run.ipp>
#include <weir/insight/diff.ipp>
#endif

#endif
