// weir measure, internal: a histogram, or its totals, that one thread at a time writes while any thread reads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_RECORDER_HPP
#define WEIR_MEASURE_RECORDER_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/requirements.hpp>

#include <bit>      // for std::bit_width
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

// The buckets of a histogram of durations. Each octave [2^k, 2^(k+1)) is divided into 32 buckets of equal
// width, so a bucket is never wider than 1/32 of its values: replacing a value by the greatest of its bucket
// makes it too great by less than 1/32 (3.125 %), and by nothing below 64 ns.
//
// | values, ns       | bucket width, ns | buckets      |
// |------------------|------------------|--------------|
// | 0 .. 63          | 1                | 0 .. 63      |
// | 64 .. 127        | 2                | 64 .. 95     |
// | 128 .. 255       | 4                | 96 .. 127    |
// | ...              | ...              | ...          |
// | 2^43 .. 2^44 - 1 | 2^38             | 1248 .. 1279 |
//
// 2^44 ns are 4.9 hours; longer durations go into the last bucket, which has no upper bound.
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
        // value >> octave is in [32, 64) except for values below 32, so bucket numbers have no gaps between
        // octaves.
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

// A histogram that one thread at a time writes while any thread reads; a lock, or the hand-over of a
// coroutine, orders the writers. So a counter is incremented by a load and a store, without an atomic
// read-modify-write. `weir::histogram` takes snapshots.
//
// Memory order: record() writes the maximum and the sum first and the cell last, with release; in_bucket()
// reads with acquire. A reader that reads all cells first, then maximum and sum, gets a maximum and a sum
// that include at least the durations in the cells.
//
// `Histogram` false: one bucket counts all durations.
template <class Platform = standard_platform, bool Histogram = true>
class basic_recorder {
    using cell = typename Platform::template atomic<std::uint64_t>;

  public:
    static constexpr std::size_t num_buckets = Histogram ? log_linear::num_buckets : 1;

  private:
    cell cells_[num_buckets]{};
    cell sum_{0};
    cell max_{0};

  public:
    basic_recorder() noexcept = default;
    basic_recorder(const basic_recorder&) = delete;
    basic_recorder& operator=(const basic_recorder&) = delete;

    // One writer at a time. Negative values count as 0. The sum wraps after 584 years.
    void record(std::int64_t ns, std::uint64_t times = 1) noexcept {
        if (times == 0) return;
        const std::uint64_t value = ns < 0 ? 0 : static_cast<std::uint64_t>(ns);
        record_each(value, times, value * times);
    }
    // Records `times` durations with the mean `value`, rounded, and exactly the sum `sum`.
    WEIR_ALWAYS_INLINE void record_each(std::uint64_t value, std::uint64_t times,
                                        std::uint64_t sum) noexcept {
        if (sum != 0) {
            // relaxed: there is one writer, and the release below publishes its writes
            if (max_.load(std::memory_order_relaxed) < value) {
                max_.store(value, std::memory_order_relaxed);
            }
            sum_.store(sum_.load(std::memory_order_relaxed) + sum, std::memory_order_relaxed);
        }
        cell& c = cells_[Histogram ? log_linear::bucket_of(static_cast<std::int64_t>(value)) : 0];
        // release; pairs with in_bucket()
        c.store(c.load(std::memory_order_relaxed) + times, std::memory_order_release);
    }

    // Any thread. acquire; pairs with record().
    std::uint64_t in_bucket(std::size_t bucket) const noexcept {
        return cells_[bucket].load(std::memory_order_acquire);
    }
    std::uint64_t sum() const noexcept { return sum_.load(std::memory_order_relaxed); }
    std::uint64_t(max)() const noexcept { return max_.load(std::memory_order_relaxed); }
};

using recorder = basic_recorder<>;

}  // namespace weir::detail

#endif
