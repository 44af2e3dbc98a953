// weir channel, internal: bodies of the functions of channel/channel_puts.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_PUTS_IPP
#define WEIR_CHANNEL_CHANNEL_PUTS_IPP

#include <weir/channel/channel_puts.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

template <class Policy>
WEIR_INLINE outcome channel_puts<Policy>::offer_for(slot* owner, void* item, slot* measured,
                                                    wakes& woken) noexcept {
    if (closed_) return outcome::closed;
    const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
    if (waiter* const getter = core::claim_first_waiter(side::get)) {
        const bool mark = is_mark(item);
        hand_over(*getter, item, mark, measured, woken);
        if (is_traced(owner) && !mark) record_trace(*owner, number, number + 1, measured);
        return outcome::done;
    }
    const std::size_t before = core::size();
    if (before >= this->capacity_ || !fits(before, item)) return outcome::pending;
    if (!putters_.empty()) return outcome::pending;  // no item overtakes a waiting put
    if (before == 0) core::emptiness_changed(false, measured);
    const bool mark = is_traced(owner) && is_mark(item);
    push(item);
    if (core::has_sink()) items::update_sink_meter(measured);
    if (is_traced(owner) && !mark) record_trace(*owner, number, number - before, measured);
    return outcome::done;
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::hand_over(waiter& getter, void* item, bool mark, slot* measured,
                                                 wakes& woken) noexcept {
    const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
    core::remove_waiter(getter, side::get, outcome::done, core::reading(measured), !mark);
    mark ? core::count_mark() : core::record_first_get(measured);
    type_.move(item, getter.item);
    getter.number = number;
    put_end_.count.store(number + 1, std::memory_order_relaxed);
    get_end_.count.store(number + 1, std::memory_order_relaxed);
    get_end_.seen = number + 1;
    if (core::has_sink()) items::update_sink_meter(measured, mark);
    woken.push(getter);
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::push(void* item) noexcept {
    const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
    add_bytes(item);
    if (is_mark(item)) ++this->put_marks_;
    type_.move(item, ring_[number]);
    items::pushed(number + 1);
}

template <class Policy>
WEIR_INLINE bool channel_puts<Policy>::admit_putters(slot* measured, wakes& woken) noexcept {
    bool admitted = false;
    while (core::size() < this->capacity_ && !putters_.empty()) {
        waiter* const putter = putters_.front();
        if (!fits(core::size(), putter->item)) break;
        if (!core::claim_waiter(*putter, side::put)) continue;
        const bool mark = is_mark(putter->item);
        core::remove_waiter(*putter, side::put, outcome::done, core::reading(measured), !mark);
        push(putter->item);
        admitted = true;
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed) - 1;
        const std::uint64_t gets = get_end_.count.load(std::memory_order_relaxed);
        slot* const owner = putter->measured;
        if (is_traced(owner) && !mark) record_trace(*owner, number, gets, measured);
        woken.push(*putter);
        if (order_ != nullptr) pass_turn(true, measured, woken);
    }
    if (!early_.empty()) admit_early(measured, woken);
    return admitted;
}

// ---- puts with numbers

template <class Policy>
WEIR_INLINE outcome channel_puts<Policy>::offer_in_order(waiter& w, wakes& woken) noexcept {
    if (order_->refuses(w.number)) return outcome::closed;
    if (closed_) return w.item != nullptr ? outcome::closed : outcome::done;
    if (w.number != order_->next()) {
        const bool is_behind_others = !early_.empty() && early_.front()->number < w.number;
        if (is_behind_others || !may_fill(w)) return outcome::pending;
        fill(w);
        return outcome::done;
    }
    if (w.item != nullptr) {
        const outcome result = offer(w.item, w.measured, woken);
        if (result != outcome::done) return result;
    }
    pass_turn(w.item != nullptr, w.measured, woken);
    if (!early_.empty()) admit_early(w.measured, woken);
    return outcome::done;
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::admit_early(slot* measured, wakes& woken) noexcept {
    while (waiter* const w = early_.front()) {
        const bool is_next = w->number == order_->next();
        if (is_next && w->item != nullptr) {
            if (offer_for(w->measured, w->item, measured, woken) != outcome::done)
                return core::wait_for_room(*w, core::reading(measured));
        }
        if (!is_next && !may_fill(*w)) return;
        core::remove_early(*w, outcome::done, core::reading(measured));
        is_next ? pass_turn(w->item != nullptr, measured, woken) : fill(*w);
        woken.push(*w);
    }
}

template <class Policy>
WEIR_INLINE bool channel_puts<Policy>::may_fill(const waiter& w) const noexcept {
    if (!putters_.empty() || !order_->is_within_window(w.number)) return false;
    if (core::size() + (w.number - order_->next()) >= this->capacity_) return false;
    if (w.item == nullptr) return true;
    // A traced item waits for its turn: its number in the queue is not known earlier.
    if (is_traced(w.measured)) return false;
    return core::bytes_.most == 0 || core::bytes_.has_room_for(type_.bytes(w.item));
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::fill(waiter& w) noexcept {
    if (w.item != nullptr) {
        add_bytes(w.item);
        type_.move(w.item, ring_[place_of(w.number)]);
    }
    order_->fill(w.number, w.item != nullptr);
}

template <class Policy>
WEIR_INLINE bool channel_puts<Policy>::skip_here(waiter& w, record* me) noexcept {
    if (!early_.empty()) return false;
    if (order_->has_early() && (core::put_needs_both() || (Policy::statistics && core::size() == 0))) {
        return false;
    }
    order_->pass();
    if (order_->has_early()) enter_ready_here(1, w.measured);
    return items::mark_done(w, me);
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::enter_ready(std::uint64_t gap, slot* measured, wakes& woken) noexcept {
    while (order_->is_next_filled()) {
        order_->pass_early() ? enter_early_item(gap, measured, woken) : void(++gap);
    }
    if (gap == 0) return;
    order_->each_item([&](std::uint64_t number) {
        const std::uint64_t to = place_of(number);
        type_.relocate(ring_[to + gap], ring_[to]);
    });
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::enter_early_item(std::uint64_t gap, slot* measured,
                                                        wakes& woken) noexcept {
    const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
    void* const item = ring_[number + gap];
    if (waiter* const getter = core::claim_first_waiter(side::get)) {
        if (core::bytes_.counts()) release_bytes(item, woken);
        hand_over(*getter, item, is_mark(item), measured, woken);
        type_.destroy(item);
        return;
    }
    if (core::size() == 0) core::emptiness_changed(false, measured);
    if (gap != 0) type_.relocate(item, ring_[number]);
    if (is_mark(ring_[number])) ++this->put_marks_;
    items::pushed(number + 1);
    if (core::has_sink()) items::update_sink_meter(measured);
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::block_puts(std::uint64_t last, wakes& woken) noexcept {
    if (core::bytes_.counts()) {
        order_->each_item([&](std::uint64_t number) {
            if (number > last && !order_->refuses(number)) release_bytes(ring_[place_of(number)], woken);
        });
    }
    order_->block(last);
    for (waiter* w = early_.front(); w != nullptr;) {
        waiter* const next = w->next;
        if (w->number > last) {
            core::remove_early(*w, outcome::closed, core::reading(nullptr));
            woken.push(*w);
        }
        w = next;
    }
}

template <class Policy>
WEIR_INLINE void channel_puts<Policy>::end_early_puts(wakes& woken) noexcept {
    while (waiter* const w = early_.front()) {
        core::remove_early(*w, w->item != nullptr ? outcome::closed : outcome::done, core::reading(nullptr));
        woken.push(*w);
    }
}

template <class Policy>
WEIR_INLINE std::uint64_t channel_puts<Policy>::gather_early() noexcept {
    std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
    order_->each_item([&](std::uint64_t number) {
        const std::uint64_t from = place_of(number);
        if (from != end) type_.relocate(ring_[from], ring_[end]);
        ++end;
    });
    order_->clear();
    return end;
}

template <class Policy>
WEIR_INLINE const char* channel_puts<Policy>::early_contradiction() const noexcept {
    if (order_ == nullptr || closed_) return nullptr;
    if (order_->is_next_filled()) return "an item whose turn has come is not in the channel";
    const waiter* const first = early_.front();
    if (first == nullptr || (first->number > order_->next() && !may_fill(*first))) return nullptr;
    return "an early item waits though its place is free";
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE void channel_puts<Policy>::record_trace(const slot& putter, std::uint64_t number,
                                                                  std::uint64_t gets,
                                                                  slot* measured) noexcept {
    if (trace_marks_->set(number, putter.followed())) putter.trail->left(trace_marks_->queue(), number);
    putter.trail->depth(trace_marks_->queue(), number + 1, gets, core::reading(measured));
}

}  // namespace weir::detail

#endif
