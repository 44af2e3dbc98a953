// weir measure: a histogram of durations, with quantiles
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_HISTOGRAM_HPP
#define WEIR_MEASURE_HISTOGRAM_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <vector>   // for std::vector

namespace weir {

/// One bucket of a histogram: the number of durations in a closed interval.
struct histogram_bucket {
    duration least{};         ///< the shortest duration of the bucket
    duration greatest{};      ///< the longest; `duration::max()` for the last bucket
    std::uint64_t count = 0;  ///< the number of durations

    [[nodiscard]] friend bool operator==(const histogram_bucket&, const histogram_bucket&) = default;
};

/// Counts durations in 1280 buckets, 32 in each power of two. A quantile is never less than the true one,
/// greater by less than 1/32 (3.125 %), and exact below 64 ns. Durations of 4.9 hours and more share a
/// bucket, of which only the greatest value is known.
///
/// `+=` merges histograms of several threads or times without loss; the difference of two snapshots holds
/// the durations recorded in between.
///
/// If only count, sum and maximum of some durations were recorded, `has_quantiles` is false: in a channel or
/// run with the policy `summed`, or if a recorder (which counts durations) could not allocate its buckets.
///
/// Threads: a value, like `int`. Cost: 10 KiB; only `buckets` allocates; `record` O(1), all else O(buckets).
/// Source: G. Tene, HdrHistogram, http://hdrhistogram.org; other bounds, and no resizing.
class histogram {
    using scale = detail::log_linear;

    std::array<std::uint64_t, scale::num_buckets> cells_{};
    std::uint64_t count_ = 0;
    std::uint64_t unsorted_ = 0;  // of all count_ durations, those that are in no bucket
    std::uint64_t sum_ = 0;       // ns; stops at UINT64_MAX
    std::int64_t max_ = 0;        // ns

  public:
    histogram() noexcept = default;

    /// A snapshot of a recorder, at any time, from any thread. A duration that is being recorded meanwhile
    /// may be missing; `sum()` may include a few durations that `count()` does not yet.
    template <class Platform, bool Histogram>
    explicit histogram(const detail::basic_recorder<Platform, Histogram>& live) noexcept {
        add(live);
    }

    /// A histogram of durations of which only these totals are known. A negative total counts as 0.
    [[nodiscard]] static histogram without_quantiles(std::uint64_t count, duration sum,
                                                     duration max) noexcept;

    /// \returns the histogram with these `buckets()`, `count()`, `sum()` and `max()`. If the buckets hold
    ///          fewer durations than `count`, `has_quantiles` is false.
    /// Errors: `std::invalid_argument` if a bucket does not begin where one of this class does, or if the
    ///         buckets hold more than `count`.
    [[nodiscard]] static histogram of(const std::vector<histogram_bucket>& buckets, std::uint64_t count,
                                      duration sum, duration max);

    /// \returns the buckets that are not empty, in ascending order.
    [[nodiscard]] std::vector<histogram_bucket> buckets() const;

    /// Records a duration. A negative one counts as 0.
    void record(duration d, std::uint64_t times = 1) noexcept;

    /// Adds a snapshot of a recorder, with the properties that the constructor describes.
    template <class Platform>
    void add(const detail::basic_recorder<Platform>& live) noexcept {
        std::size_t top = 0;
        const std::uint64_t unsorted = live.unsorted();
        std::uint64_t added = unsorted;
        for (std::size_t b = 0; b < scale::num_buckets; ++b) {
            const std::uint64_t n = live.in_bucket(b);
            if (n == 0) continue;
            cells_[b] += n;
            added += n;
            top = b;
        }
        if (added == 0) return;
        count_ += added;
        unsorted_ += unsorted;
        // Read after the cells, so sum and maximum include all durations in the cells. The sum may include a
        // duration that is being recorded; so the maximum is limited to the highest bucket that is not empty,
        // if all durations are in buckets.
        add_to_sum(live.sum());
        const std::int64_t seen = to_signed((live.max)());
        max_ = detail::larger(max_, unsorted != 0 ? seen : detail::smaller(seen, scale::upper_bound(top)));
    }
    template <class Platform>
    void add(const detail::basic_recorder<Platform, false>& live) noexcept {
        const std::uint64_t added = live.in_bucket(0);
        // Read after the count, so that sum and maximum include all counted durations.
        *this += without_quantiles(added, duration(to_signed(live.sum())), duration(to_signed((live.max)())));
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }  ///< the number of durations
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }      ///< whether there are none

    /// The sum of all durations, exact up to 292 years; a greater sum is `duration::max()`.
    [[nodiscard]] duration sum() const noexcept { return duration(to_signed(sum_)); }

    /// The longest duration, exact; 0 if empty. After a subtraction, it may be too great: see `operator-=`.
    [[nodiscard]] duration(max)() const noexcept { return duration(max_); }

    /// The exact average, rounded towards 0; 0 if empty.
    [[nodiscard]] duration mean() const noexcept;

    /// \returns whether `quantile` is known: false if only the totals were kept of some durations.
    [[nodiscard]] bool has_quantiles() const noexcept { return unsorted_ == 0; }

    /// The duration that a share `q` of all durations does not exceed: 0.5 is the median.
    ///
    /// \param q  0 to 1; other values count as the nearer limit. 0 stands for the shortest duration, 1 for
    ///           `max()`.
    /// \returns  the greatest value of the quantile's bucket, at most `max()`; also for a `q` of 0. Returns 0
    ///           if the histogram is empty. If `has_quantiles` is false, returns 0 for each `q` below 1.
    [[nodiscard]] duration quantile(double q) const noexcept;

    [[nodiscard]] duration p50() const noexcept { return quantile(0.50); }  ///< the median
    [[nodiscard]] duration p90() const noexcept { return quantile(0.90); }  ///< 9 in 10 don't exceed it
    [[nodiscard]] duration p99() const noexcept { return quantile(0.99); }  ///< 99 in 100 don't exceed it

    /// Adds all durations of another histogram.
    histogram& operator+=(const histogram& other) noexcept;

    /// Subtracts an earlier snapshot of the same series; the durations recorded since remain. Only the bucket
    /// of the longest remaining duration is known, so `max()` may be too great: by less than 1/32 below 4.9
    /// hours. Without quantiles, `max()` remains that of the whole series. No count becomes negative.
    histogram& operator-=(const histogram& earlier) noexcept;

    [[nodiscard]] friend histogram operator+(histogram a, const histogram& b) noexcept {
        a += b;
        return a;
    }
    [[nodiscard]] friend histogram operator-(histogram later, const histogram& earlier) noexcept {
        later -= earlier;
        return later;
    }
    [[nodiscard]] friend bool operator==(const histogram&, const histogram&) = default;

  private:
    static std::int64_t to_signed(std::uint64_t ns) noexcept;
    void add_to_sum(std::uint64_t ns) noexcept { sum_ += detail::smaller(ns, UINT64_MAX - sum_); }
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/measure/histogram.ipp>
#endif

#endif
