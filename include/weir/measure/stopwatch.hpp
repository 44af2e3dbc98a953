// weir measure, internal: times the invocations of a stage's function with few readings of the clock
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_STOPWATCH_HPP
#define WEIR_MEASURE_STOPWATCH_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <cstdint>  // for std::int64_t, std::uint32_t, std::uint64_t
#include <utility>  // for std::exchange

namespace weir::detail {

// Measures the times of the invocations of a stage's function. A clock reading takes 20 ns, so only long
// invocations get a reading each. Short invocations share a reading. As many share it as fit into `window`,
// judged by the previous mean, but at most twice as many as before, and at most `longest_stride`. Their sum
// is exact, and each counts as the mean. But if the mean exceeds twice the previous mean by more than
// `slack`, one invocation gets the excess, and the next one a reading of its own. Invocations of a sample,
// which are chosen at random, get exact times.
class stopwatch {
  public:
    // `each`: every invocation gets a reading of its own, as on virtual time, where readings cost nothing.
    explicit stopwatch(bool each = false) noexcept : each_(each) {}

    // Counts an invocation that has succeeded. True: the caller reads the clock now.
    bool count_invocation() noexcept { return ++unread_ >= stride_; }

    // Called after work other than an invocation: `can_estimate` is false until the next reading.
    void record_other_work() noexcept { behind_ = true; }

    // Called after other work that took long: the next invocation gets a reading of its own.
    void time_next_alone() noexcept {
        behind_ = true;
        stride_ = 1;
    }

    // The value of `unsampled_` if no sample is kept.
    static constexpr std::uint64_t no_sample = UINT64_MAX;

    // The next `n` invocations are no part of the sample; the invocation after them is. For that invocation,
    // the clock is read directly before it and after it.
    void sample_after(std::uint64_t n) noexcept {
        unsampled_ = n;
        stop_before_sample();
    }
    bool is_sampled_next() const noexcept { return unsampled_ == 0; }
    // Counts an invocation that was timed by readings of its own, as one of those before the next invocation
    // of the sample.
    void count_timed_invocation() noexcept {
        if (unsampled_ != no_sample) count_unsampled(1);
    }

    // Whether there were invocations or other work since the last reading.
    bool is_behind() const noexcept { return unread_ != 0 || behind_; }

    // Whether only invocations followed the last reading, so that their time, `estimate`, can be estimated.
    bool can_estimate() const noexcept { return !behind_; }
    std::int64_t estimate() const noexcept { return unread_ * usual_; }

    // Records the invocations since the last reading in `times`. The clock was read again, `spent` ns after
    // the last reading; a negative number, after the clock was set back, counts as 0.
    template <class Recorder>
    void read(std::int64_t spent, Recorder& times) noexcept {
        behind_ = false;
        const std::uint32_t n = std::exchange(unread_, 0);
        if (n == 0) return;
        spent = larger<std::int64_t>(spent, 0);
        const std::int64_t mean = mean_of(spent, n);
        const bool odd_one = n > 1 && mean > 2 * usual_ + slack;
        if (odd_one) {
            times.record(usual_, n - 1);
            times.record(spent - usual_ * (n - 1));
        } else {
            times.record_each(static_cast<std::uint64_t>(mean), n, static_cast<std::uint64_t>(spent));
        }
        usual_ = smaller(mean, longest_usual);
        stride_ = each_ || odd_one ? 1 : fitting(smaller(2 * stride_, longest_stride));
        if (unsampled_ != no_sample) count_unsampled(n);
    }

    // As read(), at the end of a failed invocation. Returns the time of this invocation, which is not
    // recorded in `times`.
    template <class Recorder>
    std::int64_t read_failure(std::int64_t spent, Recorder& times) noexcept {
        behind_ = false;
        const std::uint32_t n = std::exchange(unread_, 0);
        spent = larger<std::int64_t>(spent, 0);
        const std::int64_t each = smaller(usual_, mean_of(spent, n + 1));
        times.record(each, n);
        stride_ = 1;
        if (unsampled_ != no_sample) count_unsampled(n + 1);
        return spent - each * n;
    }

  private:
    // Divides in 32 bits if it can: divisions of 64 bits take 42 to 95 cycles on Intel's processors before
    // Ice Lake (A. Fog, "Instruction tables"), as much as the reading itself.
    static std::int64_t mean_of(std::int64_t spent, std::uint32_t n) noexcept {
        if (n == 1) return spent;
        if (spent <= UINT32_MAX) return static_cast<std::uint32_t>(spent) / n;
        return spent / n;
    }
    // The number of usual invocations that fit into the window, from 1 to `most`.
    std::uint32_t fitting(std::uint32_t most) const noexcept {
        if (usual_ < window / longest_stride) return most;
        if (usual_ >= window) return 1;
        return smaller(window / (static_cast<std::uint32_t>(usual_) + 1), most);
    }

    // A sampled invocation is not counted: after it, `sample_after` is called. Not inlined, so that a run
    // without samples pays one comparison for each reading.
    WEIR_NOINLINE void count_unsampled(std::uint32_t n) noexcept {
        if (unsampled_ != 0) unsampled_ -= n;
        stop_before_sample();
    }
    void stop_before_sample() noexcept {
        if (unsampled_ < stride_) stride_ = unsampled_ == 0 ? 1 : static_cast<std::uint32_t>(unsampled_);
    }

    // In ns. With invocations of 1 us, the readings take 1.3 % of the time; with a window of 4'000, 2.0 %.
    static constexpr std::uint32_t window = 8'000;
    static constexpr std::int64_t slack = 500;  // ns by which a mean may exceed twice the usual time
    static constexpr std::uint32_t longest_stride = 16;
    static constexpr std::int64_t longest_usual = INT64_MAX / 4;  // so that 2 * usual_ can't overflow

    const bool each_;
    std::uint32_t unread_ = 0;             // invocations since the last reading
    std::uint32_t stride_ = 1;             // invocations from the last reading to the next
    std::int64_t usual_ = 0;               // the mean time of the invocations before the last reading, in ns
    std::uint64_t unsampled_ = no_sample;  // invocations before the next of the sample
    bool behind_ = false;                  // there was other work since the last reading
};

}  // namespace weir::detail

#endif
