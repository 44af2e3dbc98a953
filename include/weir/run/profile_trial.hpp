// weir run: the result of a trial: what a stage did when it ran alone with some number of slots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILE_TRIAL_HPP
#define WEIR_RUN_PROFILE_TRIAL_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <span>      // for std::span

namespace weir {

/// How a trial ended.
enum class trial_end : std::uint8_t {
    complete,   ///< all of its items were processed, or there were none
    time_over,  ///< its time limit was reached; the figures are of the items until then
    stuck,      ///< nothing changed any more: a function may wait for a later stage or the consumer
    too_few,    ///< not begun: trials with fewer slots have used up the items of the stage
    no_thread,  ///< not begun: its functions would have blocked all threads of their executor
    not_tried,  ///< not begun: an earlier trial was stuck, or the time limit of all trials was reached
};

/// The figures of a stage that ran alone.
struct profile_trial {
    std::size_t concurrency = 1;     ///< slots
    duration elapsed{};              ///< from the start to the last result
    std::uint64_t num_items = 0;     ///< items taken; by a source: made
    std::uint64_t num_results = 0;   ///< items put
    std::uint64_t num_failures = 0;  ///< items that failed
    duration ave_time{};             ///< the average time of a successful task
    slot_times times;                ///< the sum over all slots; `runnable` if there were too few threads

    /// The share of the time in which the queue before the stage had an item. Near 1, the rate is that of the
    /// stage; else the stage could be faster. None for a source, for a stage with several inputs, and if no
    /// time has passed.
    std::optional<double> readiness;

    trial_end end = trial_end::complete;  ///< why the trial ended

    /// How fast items were taken while every slot had one, so that start and end don't count. None: there
    /// were fewer than four items for each slot.
    std::optional<item_pace> pace = std::nullopt;

    /// \returns items taken per second (by a source: made), from `pace` if there is one, else from `elapsed`.
    [[nodiscard]] double rate() const noexcept;
    /// \returns a confidence interval of the rate divided by that of `base`, which may be of another stage.
    ///          If it contains 1, there is no difference. None if one of them has no pace or took no time.
    [[nodiscard]] std::optional<confidence_interval> speed_up(const profile_trial& base) const noexcept;

    [[nodiscard]] friend bool operator==(const profile_trial&, const profile_trial&) = default;
};

namespace detail {

// How the items of a stage are divided among its trials: half of them evenly, the other half in proportion to
// the numbers of slots.
class trial_shares {
  public:
    // `concurrencies`: ascending and not empty; outlives this object.
    explicit trial_shares(std::span<const std::size_t> concurrencies) noexcept
        : concurrencies_(concurrencies) {}

    std::span<const std::size_t> concurrencies() const noexcept { return concurrencies_; }

    // How many trials so many items allow, of those with the fewest slots: at least 1.
    std::size_t trials(std::size_t items) const noexcept;
    // The items of one of `n` trials, if `left` of all items are left; the last trial gets the rest. A
    // multiple of the number of slots, if there are enough.
    std::size_t share(std::size_t trial, std::size_t n, std::size_t items, std::size_t left) const noexcept;

    // How many items the first `n` trials need, so that each slot has four and each trial ten. A stage may
    // wait for places that only later stages free; with more slots than such places, items could wait for
    // each other for ever. But then an earlier trial has used up the places, and was stuck.
    std::size_t enough(std::size_t n) const noexcept;

  private:
    static constexpr double rounding = 1e-6;

    double part(std::size_t trial, std::size_t n) const noexcept;

    std::span<const std::size_t> concurrencies_;
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/profile_trial.ipp>
#endif

#endif
