// weir measure, internal: since when nothing of a run has moved
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_STILLNESS_HPP
#define WEIR_MEASURE_STILLNESS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/bounds.hpp>

#include <cstdint>  // for std::int64_t

namespace weir::detail {

// Asks no slot to note more than it does: all of them wait, so what moved last is what one of them did
// before. Who has a thread is at work, and nobody sees from outside whether with many items, or with one.
class stillness {
  public:
    // A slot is in that state since then.
    void add(slot_state is, std::int64_t since) noexcept {
        is_at_work_ = is_at_work_ || has_thread(is);
        is_over_ = is_over_ && is == slot_state::off;
        moved(since);
    }
    // Something moved then.
    void moved(std::int64_t at) noexcept { last_ = larger(last_, at); }

    // 0 while one is at work, or when all have ended.
    duration until(std::int64_t now) const noexcept {
        return duration(is_at_work_ || is_over_ ? 0 : time_between(last_, now));
    }

  private:
    bool is_at_work_ = false;
    bool is_over_ = true;
    std::int64_t last_ = INT64_MIN;
};

}  // namespace weir::detail

#endif
