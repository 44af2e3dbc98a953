// weir measure, internal: the buckets of a histogram of durations: 32 of equal width in each power of two
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_LOG_LINEAR_HPP
#define WEIR_MEASURE_LOG_LINEAR_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/requirements.hpp>

#include <bit>      // for std::bit_width
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t

namespace weir::detail {

// Each octave [2^k, 2^(k+1)) is cut into 32 buckets of equal width, so a bucket is never wider than
// 1/32 of what it holds: a value that is reported as the greatest of its bucket is too great by
// less than 1/32 (3.125 %), and exact below 64 ns.
//
// | values, ns       | bucket width, ns | buckets      |
// |------------------|------------------|--------------|
// | 0 .. 63          | 1                | 0 .. 63      |
// | 64 .. 127        | 2                | 64 .. 95     |
// | 128 .. 255       | 4                | 96 .. 127    |
// | ...              | ...              | ...          |
// | 2^43 .. 2^44 - 1 | 2^38             | 1248 .. 1279 |
//
// 2^44 ns are 4.9 hours; what is longer goes into the last bucket, which thus has no upper bound.
//
// Source: G. Tene, HdrHistogram, http://hdrhistogram.org (the scheme); the numbers are our own.
struct log_linear {
    static constexpr int sub_bits = 5;                            // 2^5 = 32 buckets an octave
    static constexpr std::int64_t limit = std::int64_t{1} << 44;  // from here on: saturated
    static constexpr std::size_t num_buckets = (44 - sub_bits + 1) << sub_bits;
    static constexpr std::size_t last = num_buckets - 1;

    // Negative values count as 0.
    static constexpr std::size_t bucket_of(std::int64_t ns) noexcept {
        if (ns < 0) return 0;
        if (ns >= limit) return last;
        const auto value = static_cast<std::uint64_t>(ns);
        const int width = detail::number_as<int>(std::bit_width(value));
        const int octave = width > sub_bits ? width - sub_bits - 1 : 0;
        // value >> octave is in [32, 64) but for the very first values, so that bucket numbers
        // go on from octave to octave without a gap.
        return (static_cast<std::size_t>(octave) << sub_bits) +
               detail::number_as<std::size_t>(value >> octave);
    }

    // The smallest value in the bucket.
    static constexpr std::int64_t lower_bound(std::size_t bucket) noexcept {
        if (bucket < (std::size_t{1} << sub_bits)) return static_cast<std::int64_t>(bucket);
        const std::size_t octave = (bucket >> sub_bits) - 1;
        return static_cast<std::int64_t>(bucket - (octave << sub_bits)) << octave;
    }

    // The greatest value in the bucket.
    static constexpr std::int64_t upper_bound(std::size_t bucket) noexcept {
        return bucket >= last ? INT64_MAX : lower_bound(bucket + 1) - 1;
    }
};

}  // namespace weir::detail

#endif
