// simulate: sleeps that take as long as they should, on average.
// On a real clock everybody wakes a little late; the next sleep makes up for it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PUNCTUAL_HPP
#define WEIR_EXAMPLES_SIMULATE_PUNCTUAL_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>

#include <algorithm>  // for std::min
#include <atomic>     // for std::atomic
#include <cstdint>    // for std::int64_t

namespace simulate {

// Sleeps that take as long as they should, on average: a real clock wakes everybody a little late,
// which the next sleep makes up for. On virtual time nobody is late.
class punctual {
  public:
    explicit punctual(weir::executor& clock) noexcept : clock_(clock) {}

    /// \returns when to wake up in order to have slept for so long.
    [[nodiscard]] weir::time_point after(std::int64_t ns) noexcept {
        const std::int64_t owed = std::min(ns, owed_.exchange(0, std::memory_order_relaxed));
        return clock_.now() + weir::duration(ns - owed);
    }

    void woke_up(weir::time_point planned) noexcept {
        constexpr std::int64_t most = 500'000;  // a machine that stood still is not made up for
        const std::int64_t late = std::min<std::int64_t>((clock_.now() - planned).count(), most);
        if (late > 0) owed_.fetch_add(late, std::memory_order_relaxed);
    }

  private:
    weir::executor& clock_;
    std::atomic<std::int64_t> owed_{0};
};

}  // namespace simulate

#endif
