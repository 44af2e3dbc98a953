// weir measure, internal: a histogram, or its totals, that one thread at a time writes while any thread reads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_RECORDER_HPP
#define WEIR_MEASURE_RECORDER_HPP

#include <weir/measure/log_linear.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Writers take turns (a lock or the hand-over of a coroutine orders them), so a counter is raised
// by a load and a store: no read-modify-write, no locked bus. `weir::histogram` takes snapshots.
//
// Memory order: record() writes the maximum and the sum first and the cell last, with release;
// in_bucket() reads with acquire. Who reads all cells first and the maximum and sum after them, has
// a maximum and a sum that cover at least what the cells hold.
//
// Without a histogram there is one bucket, which counts everything.
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
    // So many values of which that is about the mean; together exactly `sum`.
    WEIR_ALWAYS_INLINE void record_each(std::uint64_t value, std::uint64_t times,
                                        std::uint64_t sum) noexcept {
        if (sum != 0) {
            // relaxed: there is one writer, and the release below shows readers what it wrote
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
