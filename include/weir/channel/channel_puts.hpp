// weir channel, internal: puts under both locks, and puts in the order of numbers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_PUTS_HPP
#define WEIR_CHANNEL_CHANNEL_PUTS_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/channel_items.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::construct_at

namespace weir::detail {

// The puts of a channel that may have to wake coroutines, compiled once for all item types. Also the numbered
// puts of a stage that keeps the order of its input (`put_order`); if these need only the put lock, they are
// templates of the item type.
//
// | a numbered put                   | what happens                                                       |
// |----------------------------------|--------------------------------------------------------------------|
// | its turn has come, there is room | the item goes in, with the early items that follow without a gap   |
// | its turn has come, no room       | the put waits in `putters_`, as any put does                       |
// | early, `may_fill` allows it      | the item is stored in its place, and the put is done               |
// | early, `may_fill` forbids it     | the put waits in `early_`; its slot (worker) is in `wait_turn`     |
// | its turn, of a dropped item      | the put is done; early items that follow go in                     |
// | the channel is closed            | `closed`; the put of a dropped item is done                        |
// | `block_puts` refuses the number  | `closed`                                                           |
//
// A put is early if a put with a lower number is missing. An early put also waits behind an early put with a
// lower number. The items inside and the places up to the last early item never exceed the capacity together,
// unless the capacity was lowered. So an early item has a place in the ring when its turn comes. Statistics
// count a wait for room only for a put whose turn has come.
template <class Policy>
class channel_puts : public channel_items<Policy> {
    using core = channel_core<Policy>;
    using items = channel_items<Policy>;

  public:
    using typename items::record;
    using typename items::side;
    using typename items::waiter;

    // The record of the items in this queue that a trace follows; null: no item of the run (a started
    // pipeline) is traced, or there is no run.
    trail_marks* trace_marks() const noexcept { return trace_marks_; }
    // Adds this queue to `trail`, the trace of the run; called before the run begins if items are traced.
    // `feeds_stage`: a stage gets from this queue; false: the consumer does, which takes the run's results.
    void add_to_trail(run_trail& trail, bool feeds_stage) {
        trace_marks_ = &trail.add_queue(this->name_, this->capacity_, feeds_stage);
    }

  protected:
    using core::closed_;
    using core::early_;
    using core::get_end_;
    using core::order_;
    using core::put_end_;
    using core::putters_;
    using items::channel_items;
    using items::ring_;
    using items::type_;
    using wakes = wake_list<typename core::platform>;

    ~channel_puts() {
        if (order_ != nullptr) put_end_.count.store(gather_early(), std::memory_order_relaxed);
    }

    // ---- a numbered put; the caller holds no lock. `w.item`: null if the stage has dropped the item. ----

    // Returns true if the put is done. On false, the caller tries again under both locks.
    template <class T>
    WEIR_ALWAYS_INLINE bool put_in_order_at_once(waiter& w) noexcept {
        record* const me = record::mine();
        if (!put_end_.lock.enter_reserved(me)) return put_in_order_under_lock<T>(w, me);
        const bool done = put_in_order_here<T>(w, me);
        put_end_.lock.leave(me);
        return done;
    }
    template <class T>
    WEIR_NOINLINE bool put_in_order_under_lock(waiter& w, record* me) noexcept {
        if (this->clock_.is_orphaned()) return false;
        const typename core::put_guard held(put_end_.lock, me);
        return put_in_order_here<T>(w, me);
    }

    // ---- under the lock for putting

    template <class T>
    WEIR_ALWAYS_INLINE bool put_in_order_here(waiter& w, record* me) noexcept {
        put_order& order = *order_;
        if (order.refuses(w.number)) return false;
        if (w.number != order.next()) return put_early<T>(w, me);
        if (w.item == nullptr) return skip_here(w, me);
        T& item = *static_cast<T*>(w.item);
        if (!(items::put_is_accounted() ? items::put_accounted(item, w.measured) : items::put_here(item)))
            return false;
        order.pass();
        if (order.has_early()) enter_ready_here(0, w.measured);
        return items::mark_done(w, me);
    }
    template <class T>
    WEIR_NOINLINE bool put_early(waiter& w, record* me) noexcept {  // if its place is free now
        if (closed_ || core::bytes_.counts() || !early_.empty() || !has_place(w.number)) return false;
        if (w.item != nullptr)
            std::construct_at(ring_.template at<T>(place_of(w.number)), std::move(*static_cast<T*>(w.item)));
        order_->fill(w.number, w.item != nullptr);
        return items::mark_done(w, me);
    }
    // Whether the place of this number is free, and within the window: the places, from that of the next
    // number on, that `put_order` allows to fill early. Called under the put lock alone. Reads the number of
    // gets only if the last known number is too low.
    bool has_place(std::uint64_t number) noexcept {
        if (!order_->is_within_window(number)) return false;
        if (place_of(number) - put_end_.seen < this->capacity_) return true;
        put_end_.seen = get_end_.count.load(std::memory_order_acquire);  // pairs with popped()
        return place_of(number) - put_end_.seen < this->capacity_;
    }
    // The index of an early item. The ring takes the index modulo the number of places.
    std::uint64_t place_of(std::uint64_t number) const noexcept {
        return put_end_.count.load(std::memory_order_relaxed) + (number - order_->next());
    }

    // ---- the caller holds both locks (`whole_lock`), and wakes the waiters in `woken` after unlocking ----

    // Puts the item if that is possible without waiting; moves from `item` only then. `measured`: the slot (a
    // worker of a stage) that puts; null: another coroutine, or a thread.
    outcome offer(void* item, slot* measured, wakes& woken) noexcept {
        return offer_for(measured, item, measured, woken);
    }
    // The same as `offer`, for a put by number: see the table above.
    outcome offer_in_order(waiter& w, wakes& woken) noexcept;

    // Ends the waits of puts for which there is room now, and of early puts whose items may be stored now.
    // True: an item of `putters_` is in; the caller then updates the meter of a merged sink.
    bool admit_putters(slot* measured, wakes& woken) noexcept;
    bool waits_to_put() const noexcept { return !putters_.empty() || !early_.empty(); }

    // Refuses all puts with a number above `last`, also those that wait. Early items above `last` remain in
    // their places, where no get sees them, and are destroyed with the items of the channel.
    void block_puts(std::uint64_t last, wakes& woken) noexcept;

    // Ends the waits of early puts, as the channel is closed.
    void end_early_puts(wakes& woken) noexcept;
    // Called before the items are destroyed. Moves all early items up, so that they follow the last item
    // without gaps. Returns the index of the last item plus 1.
    std::uint64_t gather_early() noexcept;

    // Whether an element of the queue is no item, but a mark: the end of an epoch, a pass over the data.
    bool is_mark(const void* item) const noexcept { return type_.is_mark != nullptr && type_.is_mark(item); }
    bool fits(std::size_t before, const void* item) const noexcept {  // into the limit in bytes
        return core::bytes_.most == 0 || before == 0 || core::bytes_.has_room_for(type_.bytes(item));
    }
    void add_bytes(const void* item) noexcept {  // of an item that comes in
        if (core::bytes_.counts()) core::bytes_.add(type_.bytes(item), is_mark(item));
    }

    // Called when an early item goes to a waiting get, or when `block_puts` refuses the number of an early
    // item. Subtracts the bytes of the item from the sums of the queue and of the run. If the run's limit in
    // bytes (the budget) then has room, stores the budget in `woken`: the caller lets the sources that wait
    // for this room continue, after unlocking.
    void release_bytes(const void* item, wakes& woken) noexcept {
        if (byte_budget* const budget = core::bytes_.remove(type_.bytes(item))) woken.budget = budget;
    }

    // Checks for early puts that wait without need. Returns a message, or null.
    const char* early_contradiction() const noexcept;

  private:
    // The put of a dropped item whose turn has come. Returns false if both locks are needed: early puts wait;
    // or early items are stored, and either each put needs both locks (`put_needs_both()`), or the channel is
    // measured and empty.
    bool skip_here(waiter& w, record* me) noexcept;
    WEIR_NOINLINE void enter_ready_here(std::uint64_t gap, slot* measured) noexcept {
        wakes nobody;  // no get waits: otherwise the put would have needed both locks
        enter_ready(gap, measured, nobody);
    }

    // The early items whose turn has come become items of the channel. `gap`: 1 if the item directly before
    // them was dropped, else 0.
    void enter_ready(std::uint64_t gap, slot* measured, wakes& woken) noexcept;
    void enter_early_item(std::uint64_t gap, slot* measured, wakes& woken) noexcept;  // one of them

    // ---- the caller holds both locks

    // Puts the item for the slot `owner`. `measured`: the slot whose last reading of the clock is the current
    // time, `owner` or another one; null: the clock is read.
    outcome offer_for(slot* owner, void* item, slot* measured, wakes& woken) noexcept;
    // Ends the waits of early puts that have their turn and room, or whose items may be stored now.
    void admit_early(slot* measured, wakes& woken) noexcept;
    // Whether the item of the early put `w` may be stored in its place now. The place has to be free and
    // within the window of `put_order`, and `putters_` empty. The item has to fit the limit in bytes, and not
    // to be traced.
    bool may_fill(const waiter& w) const noexcept;
    void fill(waiter& w) noexcept;  // stores the item of an early put in its place
    void pass_turn(bool has_item, slot* measured, wakes& woken) noexcept {  // a put whose turn came is done
        order_->pass();
        if (order_->has_early()) enter_ready(has_item ? 0 : 1, measured, woken);
    }

    // Moves the item to a waiting get. The moved-from item remains, for its owner to destroy.
    void hand_over(waiter& getter, void* item, bool mark, slot* measured, wakes& woken) noexcept;
    void push(void* item) noexcept;  // moves the item into the ring

    // Whether the item that this slot puts is traced.
    static bool is_traced(const slot* putter) noexcept {
        return Policy::statistics && putter != nullptr && putter->is_following();
    }
    // Records for the trace that item `number` is in the queue, and the numbers of puts and gets so far.
    // Called before another thread can get the item. `gets`: includes the waiting get that receives this
    // item, if any. `measured`: as for `offer_for`.
    void record_trace(const slot& putter, std::uint64_t number, std::uint64_t gets, slot* measured) noexcept;

    trail_marks* trace_marks_ = nullptr;  // set before the run begins
};

WEIR_COMPILED(class channel_puts<measured>);
WEIR_COMPILED(class channel_puts<summed>);
WEIR_COMPILED(class channel_puts<unmeasured>);

}  // namespace weir::detail

#include <weir/channel/channel_puts.ipp>

#endif
