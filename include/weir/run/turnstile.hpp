// weir run, internal: with how many more items a stage may begin, while those of its run are tried one by one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_TURNSTILE_HPP
#define WEIR_RUN_TURNSTILE_HPP

#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_holds.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for SIZE_MAX

namespace weir::detail {

// Lets nobody in before it is told to. What it lets in it counts, so that a stage begins with exactly so
// many.
class turnstile {
  public:
    // Asks for one item, which counts, or the end of an epoch, which doesn't. False: not now; a slot then
    // waits, and asks again. `clock`: that of the run.
    bool lets_in(const executor& clock, bool counts = true) noexcept {
        // relaxed: once it is open it stays so, and who doesn't see it yet asks under the lock
        if (is_open_.load(std::memory_order_relaxed)) return true;
        bool mine = false;
        room_.update([this, &clock, counts, &mine](pause_rule& rule) {
            mine = left_ != 0;
            if (!mine || !counts) return;
            meter_.count_item([&clock] { return clock.now().time_since_epoch().count(); });
            if (--left_ == 0) rule.paused = true;
        });
        return mine;
    }
    // Awaitable of bool; false: the run ends, and nothing is to begin any more.
    template <class Slot>
    auto wait(Slot& me) noexcept {
        return room_.wait(char(), me, slot_state::off);
    }

    // Lets so many in from now on, and nobody behind them. With `slots` at a time their pace is measured.
    void let_in(std::size_t items, std::size_t num_slots = 1) noexcept {
        room_.update([this, items, num_slots](pause_rule& rule) {
            left_ = items;
            if (items != 0) meter_.restart(num_slots);
            rule.paused = items == 0;
        });
    }
    // Of those that were let in last.
    pace_meter meter() const noexcept {
        return room_.read([this](const pause_rule&) { return meter_; });
    }
    // Lets in whoever comes, for good.
    void open() noexcept {
        is_open_.store(true, std::memory_order_relaxed);
        let_in(SIZE_MAX);
    }
    // The run ends.
    void end() noexcept {
        room_.update([](pause_rule& rule) { rule.over = true; });
    }

  private:
    standard_platform::atomic<bool> is_open_{false};
    std::size_t left_ = 0;  // under the room's lock, as the meter
    pace_meter meter_;
    wait_queue<pause_rule> room_{pause_rule{true}, "for the other stages to be tried", wait_kind::outside};
};

}  // namespace weir::detail

#endif
