// weir measure, internal: times invocations, short ones several at a time, as that costs more than they do
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_STOPWATCH_HPP
#define WEIR_MEASURE_STOPWATCH_HPP

#include <weir/platform/bounds.hpp>

#include <cstdint>  // for std::int64_t, std::uint32_t
#include <utility>  // for std::exchange

namespace weir::detail {

// A reading of the clock takes 20 ns, so it is worth one for each invocation only where those take
// longer. Shorter ones share a reading: as many as fit into `window`, going by the last ones. The sum is
// exact all the same, and each counts as their mean; but if together they took so long that one of
// them was no short one, the excess is that one's.
class stopwatch {
  public:
    // `each`: every invocation is timed on its own, where reading the clock costs nothing.
    explicit stopwatch(bool each = false) noexcept : each_(each) {}

    // One more has succeeded. True: now the clock is to be read.
    bool finished_one() noexcept { return ++unread_ >= stride_; }

    // Something else took time.
    void went_on() noexcept { behind_ = true; }

    // The same, and it took so long that the next invocation is to be timed on its own.
    void stands_apart() noexcept {
        behind_ = true;
        stride_ = 1;
    }

    // Whether time has passed since the last reading for which there is no account.
    bool is_behind() const noexcept { return unread_ != 0 || behind_; }

    // Whether it knows about how long ago that was: nothing else but invocations came after it. And how long.
    bool can_tell() const noexcept { return !behind_; }
    std::int64_t unread_time() const noexcept { return unread_ * usual_; }

    // The clock was read, `spent` ns after the last time. If it was set back, that was no time.
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
    }

    // The same at the end of an invocation that failed, whose time is returned, and not among the times.
    template <class Recorder>
    std::int64_t read_failure(std::int64_t spent, Recorder& times) noexcept {
        behind_ = false;
        const std::uint32_t n = std::exchange(unread_, 0);
        spent = larger<std::int64_t>(spent, 0);
        const std::int64_t each = smaller(usual_, mean_of(spent, n + 1));
        times.record(each, n);
        stride_ = 1;
        return spent - each * n;
    }

  private:
    // Divisions of 64 bits take 42 to 95 cycles on Intel's processors before Ice Lake (A. Fog, "Instruction
    // tables"), as much as the reading itself.
    static std::int64_t mean_of(std::int64_t spent, std::uint32_t n) noexcept {
        if (n == 1) return spent;
        if (spent <= UINT32_MAX) return static_cast<std::uint32_t>(spent) / n;
        return spent / n;
    }
    // As many usual ones as fit into the window, from 1 to `most`.
    std::uint32_t fitting(std::uint32_t most) const noexcept {
        if (usual_ < window / longest_stride) return most;
        if (usual_ >= window) return 1;
        return smaller(window / (static_cast<std::uint32_t>(usual_) + 1), most);
    }

    static constexpr std::uint32_t window =
        8'000;  // ns; half of it takes twice the share of 1 us of work (2.0 instead of 1.3 %)
    static constexpr std::int64_t slack = 500;  // ns
    static constexpr std::uint32_t longest_stride = 16;
    static constexpr std::int64_t longest_usual = INT64_MAX / 4;  // where the clock was set ahead

    const bool each_;
    std::uint32_t unread_ = 0;
    std::uint32_t stride_ = 1;
    std::int64_t usual_ = 0;  // ns
    bool behind_ = false;
};

}  // namespace weir::detail

#endif
