// simulate: sleeps whose average length is exact.
// On a real clock every wake-up is a little late; the next sleep compensates for it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PUNCTUAL_HPP
#define WEIR_EXAMPLES_SIMULATE_PUNCTUAL_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>

#include <algorithm>  // for std::min
#include <atomic>     // for std::atomic
#include <cstdint>    // for std::int64_t

namespace simulate {

// Sleeps whose average length is exact: on a real clock each wake-up is a little late, and the next sleep is
// shorter by this delay. On virtual time there is no delay.
class punctual {
  public:
    explicit punctual(weir::executor& clock) noexcept : clock_(clock) {}

    /// \returns the instant at which a sleep of this length is to end.
    [[nodiscard]] weir::time_point after(std::int64_t ns) noexcept {
        const std::int64_t owed = std::min(ns, owed_.exchange(0, std::memory_order_relaxed));
        return clock_.now() + weir::duration(ns - owed);
    }

    void woke_up(weir::time_point planned) noexcept {
        constexpr std::int64_t most = 500'000;  // a longer pause of the machine is not compensated
        const std::int64_t late = std::min<std::int64_t>((clock_.now() - planned).count(), most);
        if (late > 0) owed_.fetch_add(late, std::memory_order_relaxed);
    }

  private:
    weir::executor& clock_;
    std::atomic<std::int64_t> owed_{0};
};

}  // namespace simulate

#endif
