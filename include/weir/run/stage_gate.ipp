// weir run, internal: bodies of the functions of run/stage_gate.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_GATE_IPP
#define WEIR_RUN_STAGE_GATE_IPP

#include <weir/run/stage_gate.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>  // for SIZE_MAX

namespace weir::detail {

WEIR_INLINE bool item_quota::try_admit(const executor& clock, bool counted) noexcept {
    // relaxed: an open quota stays open; a slot that does not see it yet asks under the lock
    if (is_open_.load(std::memory_order_relaxed)) return true;
    bool admitted = false;
    slots_.update([this, &clock, counted, &admitted](pause_rule& rule) {
        admitted = left_ != 0;
        if (!admitted || !counted) return;
        meter_.count_item([&clock] { return clock.now().time_since_epoch().count(); });
        if (--left_ == 0) rule.paused = true;
    });
    return admitted;
}

WEIR_INLINE void item_quota::admit(std::size_t items, std::size_t num_slots) noexcept {
    slots_.update([this, items, num_slots](pause_rule& rule) {
        left_ = items;
        if (items != 0) meter_.restart(num_slots);
        rule.paused = items == 0;
    });
}

WEIR_INLINE pace_meter item_quota::meter() const noexcept {
    return slots_.read([this](const pause_rule&) { return meter_; });
}

WEIR_INLINE void item_quota::open() noexcept {
    is_open_.store(true, std::memory_order_relaxed);  // a slot that misses the store asks under the lock
    admit(SIZE_MAX);
}

WEIR_INLINE void item_quota::end() noexcept {
    slots_.update([](pause_rule& rule) { rule.over = true; });
}

WEIR_INLINE admission service_rule::ask(const slot* who) const noexcept {
    if (over) return admission::refused;
    return who->recalled.load(std::memory_order_relaxed) ? admission::wait : admission::go;
}

WEIR_INLINE bool stage_gate::must_wait(std::uint64_t sources, bool counted) const noexcept {
    if (!run_.may_have_to_wait()) return false;
    if (run_.is_paused() || run_.yields_to_later_stages(executor_)) return true;
    if (sources != 0 && run_.budget() != nullptr && run_.budget()->is_spent(sources)) return true;
    return quota_ != nullptr && !quota_->try_admit(run_.main_executor(), counted);
}

}  // namespace weir::detail

#endif
