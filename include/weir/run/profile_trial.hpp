// weir run: what a stage did when it ran alone with some number of slots
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

/// How a trial came to its end.
enum class trial_end : std::uint8_t {
    complete,   ///< by itself: all of its items were worked on, or there were none
    time_over,  ///< its time was over; its figures are of the items until then
    stuck,    ///< nothing moved any more: a function may wait for what a later stage, or the consumer, gives
    too_few,  ///< not begun: the stage was given too few items, which those with fewer slots have used up
    no_thread,  ///< not begun: its function takes a thread, and would leave none of its executor's
    not_tried,  ///< not begun: one before it was stuck, or the time for all was over
};

/// A stage that ran alone, with so many slots.
struct profile_trial {
    std::size_t concurrency = 1;     ///< slots
    duration elapsed{};              ///< from the start to the last result
    std::uint64_t num_items = 0;     ///< items taken; of a source: given
    std::uint64_t num_results = 0;   ///< items given
    std::uint64_t num_failures = 0;  ///< items that failed
    duration ave_time{};             ///< of a successful invocation
    slot_times times;                ///< of all its slots, summed: `runnable` if threads were short

    /// The share of the time in which the stage had something to take. Near 1 the rate is the stage's own;
    /// a stage that is faster than it was fed has a lower one. None for a source, which takes nothing, for a
    /// stage that takes from several queues, and where no time has passed.
    std::optional<double> readiness;

    trial_end end = trial_end::complete;  ///< why it has no more items

    /// How fast it took items while each slot had one, so that neither its start nor its end counts. None: it
    /// had fewer than four items for each slot, and its rate is left to chance.
    std::optional<item_pace> pace = std::nullopt;

    /// \returns items taken a second (of a source: given): that of `pace`, or of all the time.
    [[nodiscard]] double rate() const noexcept {
        return pace ? pace->rate() : detail::per_second(num_items, elapsed);
    }
    /// \returns how many times as fast this was as `base`, which may be of another stage: the interval. None
    ///          where one of them has no pace, or took no time. What holds 1 shows no difference.
    [[nodiscard]] std::optional<confidence_interval> speed_up(const profile_trial& base) const noexcept {
        if (!pace || !base.pace) return std::nullopt;
        return detail::speed_up(*pace, *base.pace);
    }

    [[nodiscard]] friend bool operator==(const profile_trial&, const profile_trial&) = default;
};

namespace detail {

// Half of all items are divided evenly among the trials, the other half in proportion to their slots.
class trial_shares {
  public:
    // `slots`: of the trials, upwards; not empty, and there as long as this is.
    explicit trial_shares(std::span<const std::size_t> concurrencies) noexcept
        : concurrencies_(concurrencies) {}

    std::span<const std::size_t> concurrencies() const noexcept { return concurrencies_; }

    // How many trials are made with so many items: those with the fewest slots, one at least.
    std::size_t trials(std::size_t items) const noexcept {
        std::size_t n = 1;
        while (n < concurrencies_.size() && enough(n + 1) <= items) ++n;
        return n;
    }
    // What one of the first `n` trials has of all items, of which some are left; the last one has these.
    // Where there are enough, each slot gets as many.
    std::size_t share(std::size_t trial, std::size_t n, std::size_t items, std::size_t left) const noexcept {
        const double mine = part(trial, n) * static_cast<double>(items) + rounding;
        if (trial + 1 < n) left = detail::smaller(left, static_cast<std::size_t>(mine));
        return left > concurrencies_[trial] ? left - left % concurrencies_[trial] : left;
    }

    // How many items the first `n` trials take, so that each slot has four, and each trial ten. So those
    // before a trial have used up more places that only later stages free than it has slots, or were stuck:
    // with more slots than places, items that overtake each other could wait for each other for ever.
    std::size_t enough(std::size_t n) const noexcept {
        double most = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t least = detail::larger<std::size_t>(10, 4 * concurrencies_[i]);
            most = detail::larger(most, static_cast<double>(least) / part(i, n));
        }
        return static_cast<std::size_t>(most + 1 - rounding);
    }

  private:
    static constexpr double rounding = 1e-6;

    double part(std::size_t trial, std::size_t n) const noexcept {
        double sum = 0;
        for (const std::size_t each : concurrencies_.first(n)) sum += static_cast<double>(each);
        return (1 / static_cast<double>(n) + static_cast<double>(concurrencies_[trial]) / sum) / 2;
    }

    std::span<const std::size_t> concurrencies_;
};

}  // namespace detail

}  // namespace weir

#endif
