// weir measure, internal: counts durations in the buckets of a histogram, while other threads read
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_RECORDER_HPP
#define WEIR_MEASURE_RECORDER_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>

#include <bit>          // for std::bit_width
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t
#include <new>          // for std::nothrow
#include <type_traits>  // for std::conditional_t

namespace weir::detail {

// The buckets of a histogram of durations. Each octave [2^k, 2^(k+1)) is divided into 32 buckets of equal
// width, so a bucket is never wider than 1/32 of its values. The greatest value of a bucket exceeds its other
// values by less than 1/32 (3.125 %). Below 64 ns a bucket has one value.
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
    static constexpr unsigned sub_bits = 5;                       // 2^5 = 32 buckets an octave
    static constexpr std::int64_t limit = std::int64_t{1} << 44;  // from here on: the last bucket
    static constexpr std::size_t num_buckets = (44 - sub_bits + 1) << sub_bits;
    static constexpr std::size_t last = num_buckets - 1;

    // Negative values count as 0.
    static constexpr std::size_t bucket_of(std::int64_t ns) noexcept {
        return ns < 0 ? 0 : bucket_at(static_cast<std::uint64_t>(ns));
    }
    static constexpr std::size_t bucket_at(std::uint64_t ns) noexcept {
        if (ns >= std::uint64_t{limit}) return last;
        // With the bit for 32, values below 32 have the octave of 32 .. 63. ns >> octave is in [32, 64)
        // except for values below 32, so bucket numbers have no gaps between octaves.
        const std::uint64_t least = ns | (std::uint64_t{1} << sub_bits);
        const auto octave = static_cast<unsigned>(std::bit_width(least)) - (sub_bits + 1);
        return (std::size_t{octave} << sub_bits) + detail::number_as<std::size_t>(ns >> octave);
    }

    static constexpr std::int64_t lower_bound(std::size_t bucket) noexcept {
        if (bucket < (std::size_t{1} << sub_bits)) return static_cast<std::int64_t>(bucket);
        const std::size_t octave = (bucket >> sub_bits) - 1;
        return static_cast<std::int64_t>(bucket - (octave << sub_bits)) << octave;
    }

    static constexpr std::int64_t upper_bound(std::size_t bucket) noexcept {
        return bucket >= last ? INT64_MAX : lower_bound(bucket + 1) - 1;
    }
};

// The counters of the buckets of a histogram. The durations lie in few octaves: 10^7 waits of 30 ns to 10 ms
// in 20 of the 40. So only octaves in which a duration was counted have counters: one row each. This object
// has room for 8 rows; if more are needed, rows are allocated, 8 at a time.
//
// A counter in a row has 32 bits. An addition that would overflow the counter goes to an array of 64-bit
// counters, which the first such addition allocates. Durations for whose counter there is no memory are
// counted together, without a bucket.
//
// One thread at a time writes while any thread reads; a lock, or the hand-over of a coroutine, orders the
// writers.
template <class Platform>
class bucket_counts {
  public:
    static constexpr std::size_t num_buckets = log_linear::num_buckets;

    bucket_counts() noexcept = default;
    bucket_counts(const bucket_counts&) = delete;
    bucket_counts& operator=(const bucket_counts&) = delete;
    ~bucket_counts() {
        for (const block* each : more_) delete each;
        // relaxed: the end of the last use is ordered before the destructor
        delete[] wide_.load(std::memory_order_relaxed);
    }

    WEIR_ALWAYS_INLINE void add(std::size_t bucket, std::uint32_t times) noexcept {
        // relaxed, both loads: there is one writer
        narrow* const row = rows_[bucket / row_length].load(std::memory_order_relaxed);
        if (row == nullptr) return add_in_new_row(bucket, times);
        narrow& c = row[bucket % row_length];
        const std::uint32_t n = c.load(std::memory_order_relaxed) + times;
        if (n < times) return add_in_wide(bucket, times);  // more than 32 bits
        c.store(n, std::memory_order_release);             // pairs with in_bucket()
    }

    // acquire, all; pairs with the stores of add(), add_in_new_row() and add_in_wide(): sees the row, the
    // array, and the sum and maximum that `basic_recorder` wrote before the count
    std::uint64_t in_bucket(std::size_t bucket) const noexcept {
        const narrow* const row = rows_[bucket / row_length].load(std::memory_order_acquire);
        const wide* const more = wide_.load(std::memory_order_acquire);
        const std::uint64_t n = row == nullptr ? 0 : row[bucket % row_length].load(std::memory_order_acquire);
        return more == nullptr ? n : n + more[bucket].load(std::memory_order_acquire);
    }
    // The number of durations without a bucket. acquire; pairs with add_in_wide()
    std::uint64_t unsorted() const noexcept { return unsorted_.load(std::memory_order_acquire); }

  private:
    template <class T>
    using atomic = typename Platform::template atomic<T>;
    using narrow = atomic<std::uint32_t>;
    using wide = atomic<std::uint64_t>;

    static constexpr std::size_t row_length = std::size_t{1} << log_linear::sub_bits;
    static constexpr std::size_t num_rows = num_buckets / row_length;
    static constexpr std::size_t block_length = 8;

    struct block {
        narrow rows[block_length][row_length]{};
    };

    WEIR_NOINLINE void add_in_new_row(std::size_t bucket, std::uint32_t times) noexcept {
        narrow* const row = new_row();
        if (row == nullptr) return add_in_wide(bucket, times);
        // release: publishes the row; pairs with in_bucket()
        rows_[bucket / row_length].store(row, std::memory_order_release);
        add(bucket, times);
    }
    // Null: no memory.
    narrow* new_row() noexcept {
        block* from = &first_;
        if (num_used_ >= block_length) {
            block*& last = more_[num_used_ / block_length - 1];
            if (last == nullptr) last = new (std::nothrow) block;
            from = last;
        }
        return from == nullptr ? nullptr : from->rows[num_used_++ % block_length];
    }

    WEIR_NOINLINE void add_in_wide(std::size_t bucket, std::uint32_t times) noexcept {
        wide* more = wide_.load(std::memory_order_relaxed);  // relaxed: there is one writer
        if (more == nullptr) {
            more = new (std::nothrow) wide[num_buckets]{};
            wide_.store(more, std::memory_order_release);  // pairs with in_bucket()
        }
        wide& c = more == nullptr ? unsorted_ : more[bucket];
        // release; pairs with in_bucket() and unsorted()
        c.store(c.load(std::memory_order_relaxed) + times, std::memory_order_release);
    }

    atomic<narrow*> rows_[num_rows]{};  // of each octave; null: no duration in it
    block first_;
    block* more_[num_rows / block_length - 1]{};
    std::size_t num_used_ = 0;
    atomic<wide*> wide_{nullptr};
    wide unsorted_{0};
};
WEIR_COMPILED(class bucket_counts<standard_platform>);

// One bucket, which has all durations.
template <class Platform>
class one_bucket {
  public:
    static constexpr std::size_t num_buckets = 1;

    // release; pairs with in_bucket(). relaxed: there is one writer
    void add(std::size_t, std::uint32_t times) noexcept {
        count_.store(count_.load(std::memory_order_relaxed) + times, std::memory_order_release);
    }
    // acquire; pairs with add()
    std::uint64_t in_bucket(std::size_t) const noexcept { return count_.load(std::memory_order_acquire); }

  private:
    typename Platform::template atomic<std::uint64_t> count_{0};
};

// The durations of a stage or channel: how many are in each bucket, their sum and their maximum. As for
// `bucket_counts`, there is one writer. So a counter is incremented by a load and a store, without an atomic
// read-modify-write. `weir::histogram` takes snapshots.
//
// Memory order: record() writes maximum and sum before the bucket, which it stores with release; in_bucket()
// loads with acquire. So if a reader reads all buckets first, its maximum and sum include at least the
// durations in these buckets.
//
// `Histogram` false: one bucket counts all durations.
template <class Platform = standard_platform, bool Histogram = true>
class basic_recorder {
    using cell = typename Platform::template atomic<std::uint64_t>;
    using counts = std::conditional_t<Histogram, bucket_counts<Platform>, one_bucket<Platform>>;

    cell sum_{0};
    cell max_{0};
    counts counts_;

  public:
    static constexpr std::size_t num_buckets = counts::num_buckets;

    basic_recorder() noexcept = default;
    basic_recorder(const basic_recorder&) = delete;
    basic_recorder& operator=(const basic_recorder&) = delete;

    // One writer at a time. Negative values count as 0. The sum wraps after 584 years.
    void record(std::int64_t ns) noexcept {
        const std::uint64_t value = ns < 0 ? 0 : static_cast<std::uint64_t>(ns);
        record_each(value, 1, value);
    }
    void record(std::int64_t ns, std::uint32_t times) noexcept {
        if (times == 0) return;
        const std::uint64_t value = ns < 0 ? 0 : static_cast<std::uint64_t>(ns);
        record_each(value, times, value * times);
    }
    // Records `times` durations whose rounded mean is `value` in the bucket of `value`. Adds exactly `sum` to
    // the sum.
    WEIR_ALWAYS_INLINE void record_each(std::uint64_t value, std::uint32_t times,
                                        std::uint64_t sum) noexcept {
        if (sum != 0) {
            // relaxed: there is one writer, and the release of the bucket publishes its writes
            if (max_.load(std::memory_order_relaxed) < value) {
                max_.store(value, std::memory_order_relaxed);
            }
            sum_.store(sum_.load(std::memory_order_relaxed) + sum, std::memory_order_relaxed);
        }
        counts_.add(Histogram ? log_linear::bucket_at(value) : 0, times);
    }

    // The number of durations in a bucket. Threads: any. acquire; pairs with record().
    std::uint64_t in_bucket(std::size_t bucket) const noexcept { return counts_.in_bucket(bucket); }
    // The number of durations that are in no bucket, for lack of memory.
    std::uint64_t unsorted() const noexcept { return counts_.unsorted(); }
    // relaxed: readers call in_bucket() first, whose acquire makes sum and maximum visible
    std::uint64_t sum() const noexcept { return sum_.load(std::memory_order_relaxed); }
    std::uint64_t(max)() const noexcept { return max_.load(std::memory_order_relaxed); }
};
WEIR_COMPILED(class basic_recorder<standard_platform, true>);

using recorder = basic_recorder<>;

}  // namespace weir::detail

#endif
