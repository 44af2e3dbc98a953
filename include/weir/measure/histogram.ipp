// weir measure, internal: bodies of the functions of measure/histogram.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_HISTOGRAM_IPP
#define WEIR_MEASURE_HISTOGRAM_IPP

#include <weir/measure/histogram.hpp>

#include <weir/platform/config.hpp>

#include <stdexcept>  // for std::invalid_argument

namespace weir {

WEIR_INLINE histogram histogram::without_quantiles(std::uint64_t count, duration sum, duration max) noexcept {
    histogram h;
    if (count == 0) return h;
    h.count_ = h.unsorted_ = count;
    h.sum_ = static_cast<std::uint64_t>(detail::larger<std::int64_t>(sum.count(), 0));
    h.max_ = detail::larger<std::int64_t>(max.count(), 0);
    return h;
}

WEIR_INLINE histogram histogram::of(const std::vector<histogram_bucket>& buckets, std::uint64_t count,
                                    duration sum, duration max) {
    histogram h = without_quantiles(count, sum, max);
    for (const histogram_bucket& b : buckets) {
        const std::size_t i = scale::bucket_of(b.least.count());
        if (b.least.count() != scale::lower_bound(i) || b.count > h.unsorted_) {
            throw std::invalid_argument(
                "weir: these are not the buckets of a histogram: one begins elsewhere than ours do, or "
                "they hold more than was counted");
        }
        h.cells_[i] += b.count;
        h.unsorted_ -= b.count;
    }
    return h;
}

WEIR_INLINE std::vector<histogram_bucket> histogram::buckets() const {
    std::vector<histogram_bucket> all;
    for (std::size_t b = 0; b < scale::num_buckets; ++b) {
        if (cells_[b] != 0)
            all.push_back({duration(scale::lower_bound(b)), duration(scale::upper_bound(b)), cells_[b]});
    }
    return all;
}

WEIR_INLINE void histogram::record(duration d, std::uint64_t times) noexcept {
    if (times == 0) return;
    const std::int64_t ns = detail::larger<std::int64_t>(d.count(), 0);
    cells_[scale::bucket_of(ns)] += times;
    count_ += times;
    const auto value = static_cast<std::uint64_t>(ns);
    add_to_sum(value != 0 && times > UINT64_MAX / value ? UINT64_MAX : value * times);
    max_ = detail::larger(max_, ns);
}

WEIR_INLINE duration histogram::mean() const noexcept {
    return count_ == 0 ? duration(0) : duration(to_signed(sum_ / count_));
}

WEIR_INLINE duration histogram::quantile(double q) const noexcept {
    if (count_ == 0) return duration(0);
    if (q >= 1) return (max)();
    if (!has_quantiles()) return duration(0);
    // The smallest rank that covers q. 0.07 * 100 is a little more than 7 in floating point: a product
    // this close to an integer counts as the integer.
    const double exact = q > 0 ? q * static_cast<double>(count_) : 0;
    const double rank = exact - exact * 1e-12;
    const auto below = static_cast<std::uint64_t>(rank);
    const std::uint64_t up = static_cast<double>(below) < rank ? below + 1 : below;
    std::uint64_t left = detail::smaller(detail::larger<std::uint64_t>(up, 1), count_);
    std::size_t b = 0;
    while (left > cells_[b]) left -= cells_[b++];
    return duration(detail::smaller(scale::upper_bound(b), max_));
}

WEIR_INLINE histogram& histogram::operator+=(const histogram& other) noexcept {
    for (std::size_t b = 0; b < scale::num_buckets; ++b) cells_[b] += other.cells_[b];
    count_ += other.count_;
    unsorted_ += other.unsorted_;
    add_to_sum(other.sum_);
    max_ = detail::larger(max_, other.max_);
    return *this;
}

WEIR_INLINE histogram& histogram::operator-=(const histogram& earlier) noexcept {
    unsorted_ -= detail::smaller(unsorted_, earlier.unsorted_);
    count_ = unsorted_;
    std::size_t top = 0;
    for (std::size_t b = 0; b < scale::num_buckets; ++b) {
        cells_[b] -= detail::smaller(cells_[b], earlier.cells_[b]);
        count_ += cells_[b];
        if (cells_[b] != 0) top = b;
    }
    sum_ = count_ == 0 ? 0 : sum_ - detail::smaller(sum_, earlier.sum_);
    if (count_ == 0) {
        max_ = 0;
    } else if (has_quantiles()) {
        max_ = detail::smaller(max_, scale::upper_bound(top));
    }
    return *this;
}

WEIR_INLINE std::int64_t histogram::to_signed(std::uint64_t ns) noexcept {
    return static_cast<std::int64_t>(detail::smaller<std::uint64_t>(ns, INT64_MAX));
}

}  // namespace weir

#endif
