// weir measure: the throughput of a stage with a confidence interval
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_ITEM_PACE_HPP
#define WEIR_MEASURE_ITEM_PACE_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional

namespace weir {

/// A 95 % confidence interval.
struct confidence_interval {
    double low = 0;   ///< the figure is at least this
    double high = 0;  ///< the figure is at most this

    /// \returns whether `value`, such as a rate, is in the interval.
    [[nodiscard]] bool holds(double value) const noexcept { return low <= value && value <= high; }

    [[nodiscard]] friend bool operator==(const confidence_interval& a,
                                         const confidence_interval& b) noexcept {
        return detail::are_equal(a.low, b.low) && detail::are_equal(a.high, b.high);
    }
};

/// The throughput of a stage, estimated from consecutive blocks of equally many items.
///
/// Source: batch means, with the t distribution: Schmeiser, "Batch Size Effects in the Analysis of Simulation
///         Output", Operations Research 30 (1982), which advises 10 to 30 blocks. The interval is computed
///         for the logarithm of the rate.
struct item_pace {
    std::uint64_t num_items = 0;  ///< items in all blocks
    std::size_t num_blocks = 0;   ///< 3 or more
    duration elapsed{};           ///< the time of all blocks
    double variance = 0;          ///< the variance of the mean time of a block, divided by the squared mean

    /// \returns items per second.
    [[nodiscard]] double rate() const noexcept { return detail::per_second(num_items, elapsed); }
    /// \returns the confidence interval of the rate; none if the rate is 0, as when no time has passed.
    [[nodiscard]] std::optional<confidence_interval> rate_interval() const noexcept;

    [[nodiscard]] friend bool operator==(const item_pace& a, const item_pace& b) noexcept {
        return a.num_items == b.num_items && a.num_blocks == b.num_blocks && a.elapsed == b.elapsed &&
               detail::are_equal(a.variance, b.variance);
    }
};

namespace detail {

// Replace std::sqrt and std::exp, as <cmath> takes long to compile.
inline double root(double x) noexcept {
    if (!(x > 0)) return 0;
    double y = x < 1 ? 1 : x;
    for (double next = (y + x / y) / 2; next < y; next = (y + x / y) / 2) y = next;
    return y;
}
inline double exponential(double x) noexcept {
    if (x < -0.5) return 1 / exponential(-x);  // the sum below converges slowly there
    if (x > 700) x = 700;
    if (x > 0.5) {
        const double half = exponential(x / 2);
        return half * half;
    }
    double sum = 1;
    for (int n = 10; n > 0; --n) sum = 1 + x / n * sum;
    return sum;
}

// The 97.5 % quantile of the t distribution. Below 10 degrees of freedom from a table, for whole degrees: the
// number is rounded down, but not below 1. From 10 on by the expansion of Fisher and Cornish (1960), accurate
// to three decimals.
inline double t_quantile(double freedom) noexcept {
    static constexpr double few[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};
    if (!(freedom >= 1)) return few[0];
    if (freedom < 10) return few[static_cast<std::size_t>(freedom) - 1];
    const double part = 1 / freedom;
    return 1.95996 + part * (2.37227 + part * (2.82250 + part * 2.55585));
}

// The confidence interval of `centre`, whose logarithm has this variance.
inline confidence_interval around(double centre, double freedom, double variance) noexcept {
    const double factor = exponential(t_quantile(freedom) * root(variance));
    return {centre / factor, centre * factor};
}

// The confidence interval of the rate of `a` divided by the rate of `b`; none if a rate is 0. Source:
// Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are
// Involved", Biometrika 34 (1947).
inline std::optional<confidence_interval> speed_up(const item_pace& a, const item_pace& b) noexcept {
    if (a.rate() <= 0 || b.rate() <= 0) return std::nullopt;
    const double sum = a.variance + b.variance;
    const double of_a = a.variance * a.variance / static_cast<double>(a.num_blocks - 1);
    const double of_b = b.variance * b.variance / static_cast<double>(b.num_blocks - 1);
    const double freedom = of_a + of_b > 0 ? sum * sum / (of_a + of_b) : 1;
    return detail::around(a.rate() / b.rate(), freedom, sum);
}

// Divides the items of a stage into blocks: reads the clock each time a fixed number of items has begun. Each
// reading is a mark. The number of items in a block is doubled when needed, so that there are 20 to 40
// blocks, or fewer if there are few items.
class pace_meter {
  public:
    // `num_slots`: on how many items the stage works at a time. The number of items in a block is always a
    // multiple of `num_slots`, because items that begin together end together.
    void restart(std::size_t num_slots) noexcept {
        step_ = next_ = num_slots;
        begun_ = 0;
        num_marks_ = 0;
    }
    // Counts an item that begins. Calls `clock()` at the end of a block.
    template <class Clock>
    void count_item(const Clock& clock) noexcept {
        if (++begun_ != next_) return;
        if (num_marks_ == most) {
            for (std::size_t i = 0; i <= most / 2; ++i) marks_[i] = marks_[2 * i];
            num_marks_ = most / 2 + 1;
            next_ += step_;
            step_ *= 2;
            return;  // no mark: only half of a block, which is now twice as long, has begun
        }
        marks_[num_marks_++] = clock();
        next_ += step_;
    }
    std::uint64_t begun() const noexcept { return begun_; }

    // None if fewer than 4 * `num_slots` items have begun.
    std::optional<item_pace> pace() const noexcept {
        if (num_marks_ <= least) return std::nullopt;
        item_pace all;
        all.num_blocks = num_marks_ - 1;
        all.num_items = all.num_blocks * step_;
        all.elapsed = duration(marks_[num_marks_ - 1] - marks_[0]);
        const auto blocks = static_cast<double>(all.num_blocks);
        const double mean = static_cast<double>(all.elapsed.count()) / blocks;
        double squares = 0;
        for (std::size_t i = 1; i < num_marks_; ++i) {
            const double off = static_cast<double>(marks_[i] - marks_[i - 1]) - mean;
            squares += off * off;
        }
        if (mean > 0) all.variance = squares / (blocks * (blocks - 1) * mean * mean);
        return all;
    }

  private:
    static constexpr std::size_t least = 3;
    static constexpr std::size_t most = 41;  // odd, so that every second mark includes the first and the last

    std::uint64_t step_ = 1;  // items of a block
    std::uint64_t next_ = 0;  // the value of `begun_` at the next mark
    std::uint64_t begun_ = 0;
    std::size_t num_marks_ = 0;
    std::int64_t marks_[most] = {};
};

}  // namespace detail

inline std::optional<confidence_interval> item_pace::rate_interval() const noexcept {
    if (rate() <= 0) return std::nullopt;
    return detail::around(rate(), static_cast<double>(num_blocks - 1), variance);
}

}  // namespace weir

#endif
