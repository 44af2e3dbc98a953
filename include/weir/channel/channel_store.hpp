// weir channel, internal: puts and gets that meet waiters, close, cancel and resize, for items of erased type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_STORE_HPP
#define WEIR_CHANNEL_CHANNEL_STORE_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/channel_items.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// The slow path, compiled once for all item types: an item is a `void*`. Every function needs the whole_lock.
template <class Policy>
class channel_store : public channel_items<Policy> {
    using items = channel_items<Policy>;

  public:
    using core = channel_core<Policy>;
    using core_type = core;
    using typename items::side;
    using typename items::waiter;

  protected:
    using items::ring_;
    using items::type_;
    using wakes = wake_list<typename core::platform>;
    using core::capacity_;
    using core::closed_;
    using core::get_end_;
    using core::getters_;
    using core::put_end_;
    using core::putters_;

    using items::channel_items;
    ~channel_store() = default;

  public:
    const char* contradiction() const noexcept override;

    // The marks of traced items in this queue; null: no item of the run is traced, or there is no run.
    trail_marks* marks() const noexcept { return marks_; }
    void mark_in(run_trail& trail, bool is_read) {
        marks_ = &trail.add_queue(this->name_, capacity_, is_read);
    }

  protected:
    // Whether `attempt` would finish the operation.
    bool needs_no_waiting(side line, const waiter& w) const noexcept {
        const std::size_t before = core::size();
        if (closed_ || line == side::get) return closed_ || before != 0;
        return before < capacity_ && fits(before, w.item) && putters_.empty();
    }

    // Does the operation of `w` if that is possible without waiting; else returns `pending`.
    WEIR_ALWAYS_INLINE outcome attempt(side line, waiter& w, wakes& woken) noexcept {
        return line == side::put ? offer(w.item, w.measured, woken)
                                 : take(w.item, w.number, w.measured, woken);
    }

    outcome offer(void* item, slot* measured, wakes& woken) noexcept {
        if (closed_) return outcome::closed;
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
        if (waiter* const getter = core::claim_first_waiter(side::get)) {
            const bool mark = is_mark(item);
            core::remove_waiter(*getter, side::get, outcome::done, core::reading(measured), !mark);
            mark ? core::count_mark() : core::record_first_get(measured);
            type_.move(item, getter->item);
            getter->number = number;
            if (is_traced(measured) && !mark) record_trace(*measured, number, number + 1, measured);
            put_end_.count.store(number + 1, std::memory_order_relaxed);
            get_end_.count.store(number + 1, std::memory_order_relaxed);
            get_end_.seen = number + 1;
            if (core::has_sink()) items::tell_sink(measured, mark);
            woken.push(*getter);
            return outcome::done;
        }
        const std::size_t before = core::size();
        if (before >= capacity_ || !fits(before, item)) return outcome::pending;
        if (!putters_.empty()) return outcome::pending;  // the first of them is larger, and keeps its turn
        if (before == 0) core::emptiness_changed(false, measured);
        const bool mark = is_traced(measured) && is_mark(item);
        push(item);
        if (core::has_sink()) items::tell_sink(measured);
        if (is_traced(measured) && !mark) record_trace(*measured, number, number - before, measured);
        return outcome::done;
    }

    outcome take(void* into, std::uint64_t& number, slot* measured, wakes& woken) noexcept {
        number = get_end_.count.load(std::memory_order_relaxed);
        get_end_.seen = put_end_.count.load(std::memory_order_relaxed);
        if (number == get_end_.seen) return closed_ ? outcome::closed : outcome::pending;
        ring_.take(number, into);
        is_mark(into) ? void(++this->get_marks_) : core::record_first_get(measured);
        items::popped(number + 1);
        if (core::bytes_.counts()) woken.budget = core::bytes_.remove(type_.bytes(into));
        if (!putters_.empty()) admit_putters(measured, woken);
        if (core::size() == 0) core::emptiness_changed(true, measured);
        if (core::has_sink() && this->sink_->waits_to_put()) items::tell_sink(measured);
        return outcome::done;
    }

    // Moves the items of waiting puts to the places that are free.
    void admit_putters(slot* measured, wakes& woken) noexcept;

    void close_locked(wakes& woken) noexcept;

    // Closes for new puts; those that wait are admitted when there is room. No get waits while a put does.
    void close_to_newcomers_locked(wakes& woken) noexcept;

    WEIR_ALWAYS_INLINE void push(void* item) noexcept {
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
        add_bytes(item);
        if (is_mark(item)) ++this->put_marks_;
        type_.move(item, ring_[number]);
        items::pushed(number + 1);
    }

    WEIR_ALWAYS_INLINE bool is_mark(const void* item) const noexcept {
        return type_.is_mark != nullptr && type_.is_mark(item);
    }

    // Moves all items to `discarded`, to be destroyed after unlocking. Returns the number after the last
    // item.
    std::uint64_t discard(ring& discarded, wakes& woken) noexcept;

    // Sets the capacity, and admits waiting puts. `other` has room for `capacity` items. If the ring is too
    // small, the items move to `other`, and the two rings are swapped.
    void replace_ring(ring& other, std::size_t capacity, wakes& woken) noexcept;

    void set_byte_limit(std::size_t bytes, wakes& woken) noexcept;

    bool fits(std::size_t before, const void* item) const noexcept {
        return core::bytes_.most == 0 || before == 0 || core::bytes_.has_room_for(type_.bytes(item));
    }
    void add_bytes(const void* item) noexcept {
        if (core::bytes_.counts()) core::bytes_.add(type_.bytes(item));
    }

    // Whether the item that this slot puts is traced.
    static bool is_traced(const slot* putter) noexcept {
        return Policy::statistics && putter != nullptr && putter->is_following();
    }
    // Records for the trace that an item is in, before anybody can get it. `measured`: the slot whose last
    // reading of the clock is the current time.
    WEIR_NOINLINE void record_trace(const slot& putter, std::uint64_t number, std::uint64_t gets,
                                    slot* measured) noexcept {
        if (marks_->set(number, putter.followed())) putter.trail->left(marks_->queue(), number);
        putter.trail->depth(marks_->queue(), number + 1, gets, core::reading(measured));
    }

    static const waiter* first_unanswered(const waiter* w) noexcept {
        while (w != nullptr && w->choice != nullptr && w->choice->is_claimed()) w = w->next;
        return w;
    }

    bool drains_puts_ = false;      // closed for new puts only
    trail_marks* marks_ = nullptr;  // set before the run begins
};

WEIR_COMPILED(class channel_store<measured>);
WEIR_COMPILED(class channel_store<summed>);
WEIR_COMPILED(class channel_store<unmeasured>);

}  // namespace weir::detail

#include <weir/channel/channel_store.ipp>

#endif
