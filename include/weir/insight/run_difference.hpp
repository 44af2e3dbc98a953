// weir insight: the difference between two runs, as a value and as text: the result of `diff`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RUN_DIFFERENCE_HPP
#define WEIR_INSIGHT_RUN_DIFFERENCE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>

#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <ostream>   // for std::ostream
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// How the share of one state in the time of a stage's slots (workers) differs between two runs.
struct state_difference {
    std::string stage = {};  ///< the name of the stage
    std::string state = {};  ///< the name of the member of `slot_times`, as `wait_get`
    double before = 0;       ///< the share of the slots' time, without `off`, in the first run; 0 to 1
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
    double failed_before = 0;       ///< the share of invocations that failed in the first run; 0 to 1
    double failed_after = 0;        ///< the same in the second run
    bool failures_changed = false;  ///< whether the shares differ beyond chance; false below 10 failures
};

/// The result of `diff`.
struct run_difference {
    std::string refused = {};                ///< why the runs can't be compared; empty if they can be
    std::vector<std::string> settings = {};  ///< as "concurrency of a: 2 -> 4"; also stages of one run only
    std::vector<stage_difference> stages = {};  ///< stages of both runs that take time; the consumer, too
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

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/run_difference.ipp>
#endif

#endif
