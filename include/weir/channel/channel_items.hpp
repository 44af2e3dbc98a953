// weir channel, internal: puts and gets that do not wait, for each item type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_ITEMS_HPP
#define WEIR_CHANNEL_CHANNEL_ITEMS_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::move
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::construct_at, std::uninitialized_move_n
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir::detail {

// The part of a channel that is compiled for each item type: the fast path, on which an item moves under the
// lock of one end. Used by the awaitables, `try_put`, `try_get`, and puts and gets of several items. If the
// fast path can't do an operation, the caller takes the slow path, under both locks (`any_channel`).
// `Policy`: what the channel measures: `measured`, `summed` or `unmeasured`.
template <class Policy>
class channel_items : public channel_core<Policy> {
    using core = channel_core<Policy>;

  public:
    using typename core::record;
    using typename core::side;
    using typename core::waiter;

  protected:
    using core::capacity_;
    using core::get_end_;
    using core::put_end_;

    WEIR_NOINLINE channel_items(const item_type& type, std::size_t capacity, executor* clock,
                                std::string name)
        : core(capacity, clock, std::move(name)), type_(type), ring_(type, capacity) {}
    WEIR_NOINLINE ~channel_items() {
        const std::uint64_t first = get_end_.count.load(std::memory_order_relaxed);
        detail::destroy_items(ring_, type_, first, put_end_.count.load(std::memory_order_relaxed));
    }

    // ---- under no lock --------------------------------------------------------------------------

    // True if the item has moved; false if the operation needs both locks. Inlined only into functions that
    // are not inlined themselves: a coroutine would keep `me` (this thread's record) when it continues on
    // another thread. Makes no call if the lock is biased to this thread and no clock has to be read.
    template <class T>
    WEIR_ALWAYS_INLINE bool put_at_once(waiter& w) noexcept {
        record* const me = record::mine();
        if (!put_end_.lock.enter_reserved(me)) return put_under_lock<T>(w, me);
        if (put_is_accounted()) return put_accounted_and_unlock<T>(w, me);
        const bool moved = put_here<T>(w, me);
        put_end_.lock.leave(me);
        return moved;
    }
    template <class T>
    WEIR_ALWAYS_INLINE bool get_at_once(waiter& w) noexcept {
        const bool one = core::has_one_lock();
        if (one && core::size() == 0) return false;  // a hint: the slow path decides under the lock
        record* const me = record::mine();
        if (!(one ? put_end_.lock.enter_reserved(me) : get_end_.lock.enter_reserved(me))) {
            return get_under_lock<T>(w, me);
        }
        const bool moved = one == core::has_one_lock() && get_here<T>(w, me);
        if (Policy::statistics && !moved && one) return get_accounted_and_unlock<T>(w, me);
        one ? put_end_.lock.leave(me) : get_end_.lock.leave(me);
        return moved;
    }
    // Not inlined, as they may read a clock: inlined, they slow down the other paths (bench/results.md).
    template <class T>
    WEIR_NOINLINE bool put_accounted_and_unlock(waiter& w, record* me) noexcept {
        const bool moved = put_accounted<T>(w, me);
        put_end_.lock.leave(me);
        return moved;
    }
    template <class T>
    WEIR_NOINLINE bool get_accounted_and_unlock(waiter& w, record* me) noexcept {
        const bool moved = get_accounted<T>(w, me);
        put_end_.lock.leave(me);
        return moved;
    }
    // Waits for a lock that another thread may hold. After a fork, the other thread may exist in the parent
    // only: then returns false, and the slow path throws.
    template <class T>
    WEIR_NOINLINE bool put_under_lock(waiter& w, record* me) noexcept {
        if (this->clock_.is_orphaned()) return false;
        const typename core::put_guard held(put_end_.lock, me);
        return put_is_accounted() ? put_accounted<T>(w, me) : put_here<T>(w, me);
    }
    template <class T>
    WEIR_NOINLINE bool get_under_lock(waiter& w, record* me) noexcept {
        if (this->clock_.is_orphaned()) return false;
        const typename core::get_guard held(*this, me);
        return held.is_valid() && (get_here<T>(w, me) || get_accounted<T>(w, me));
    }
    // As `put_at_once` and `get_at_once`, for `try_put` and `try_get`, which have no waiter.
    template <class T>
    bool put_unawaited(T& item) noexcept {
        const typename core::put_guard held(put_end_.lock);
        return put_is_accounted() ? put_accounted(item, nullptr) : put_here(item);
    }
    template <class T>
    bool get_unawaited(T* into, std::uint64_t& number) noexcept {
        const typename core::get_guard held(*this);
        return held.is_valid() && (get_here(into, number) || get_accounted(into, number, nullptr));
    }

    // Moves up to `most` items under the lock of one end; returns their number, maybe 0. Stops before an item
    // that needs both locks or changes the statistics: see `any_channel::put_some` and `get_some`.
    template <class T>
    std::size_t put_many(T* items, std::size_t most) noexcept {
        record* const me = record::mine();
        const typename core::put_guard held(put_end_.lock, me);
        return count_moved(push_some(items, most), me);
    }
    template <class T>
    std::size_t get_many(T* into, std::size_t most) noexcept {
        record* const me = record::mine();
        const typename core::get_guard held(*this, me);
        return held.is_valid() ? count_moved(pop_some(into, most), me) : 0;
    }

    // ---- under the lock of one end --------------------------------------------------------------

    template <class T>
    WEIR_ALWAYS_INLINE bool put_here(waiter& w, record* me) noexcept {
        return put_here(*static_cast<T*>(w.item)) && mark_done(w, me);
    }
    template <class T>
    WEIR_ALWAYS_INLINE bool get_here(waiter& w, record* me) noexcept {
        return get_here(static_cast<T*>(w.item), w.number) && mark_done(w, me);
    }
    template <class T>
    bool put_accounted(waiter& w, record* me) noexcept {
        return put_accounted(*static_cast<T*>(w.item), w.measured) && mark_done(w, me);
    }
    template <class T>
    bool get_accounted(waiter& w, record* me) noexcept {
        return get_accounted(static_cast<T*>(w.item), w.number, w.measured) && mark_done(w, me);
    }
    static std::size_t count_moved(std::size_t moved, record* me) noexcept {  // for idle workers, as below
        if (me != nullptr && moved != 0) me->count_operation();
        return moved;
    }
    WEIR_ALWAYS_INLINE static bool mark_done(waiter& w, record* me) noexcept {
        if (me != nullptr) me->count_operation();  // idle workers judge this worker's speed by the count
        w.outcome = outcome::done;
        return true;
    }

    // Moves as many items as the lock of this end allows; returns their number. Such moves change
    // neither `put_needs_both()` nor `get_needs_both()`.
    template <class T>
    std::size_t push_some(T* items, std::size_t most) noexcept {
        if (put_is_accounted() || core::put_needs_both()) return 0;
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
        put_end_.seen = get_end_.count.load(std::memory_order_acquire);  // pairs with popped()
        const std::uint64_t inside = number - put_end_.seen;
        const std::uint64_t room = inside < capacity_ ? capacity_ - inside : 0;
        const auto n = number_as<std::size_t>(smaller<std::uint64_t>(most, room));
        for (std::size_t done = 0; done != n;) {
            const std::size_t row = ring_.contiguous(number + done, n - done);
            std::uninitialized_move_n(items + done, row, ring_.template at<T>(number + done));
            done += row;
        }
        pushed(number + n);
        return n;
    }
    template <class T>
    std::size_t pop_some(T* into, std::size_t most) noexcept {
        if (core::get_needs_both() || core::has_sink()) return 0;
        const std::uint64_t number = get_end_.count.load(std::memory_order_relaxed);
        get_end_.seen = put_end_.count.load(std::memory_order_acquire);  // pairs with pushed()
        const std::uint64_t inside = get_end_.seen - number;
        const std::uint64_t free = inside < min_items_for_get ? 0 : inside - (min_items_for_get - 1);
        const auto n = number_as<std::size_t>(smaller<std::uint64_t>(most, free));
        for (std::size_t done = 0; done != n;) {
            const std::size_t row = ring_.contiguous(number + done, n - done);
            T* const from = ring_.template at<T>(number + done);
            std::move(from, from + row, into + done);
            std::destroy_n(from, row);
            done += row;
        }
        popped(number + n);
        return n;
    }

    // True if the item is in; false if there is no room, or if the put needs both locks.
    template <class T>
    WEIR_ALWAYS_INLINE bool put_here(T& item) noexcept {
        if (core::put_needs_both()) return false;
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
        if (number - put_end_.seen >= capacity_) {
            // acquire; pairs with popped(): the place is free
            put_end_.seen = get_end_.count.load(std::memory_order_acquire);
            if (number - put_end_.seen >= capacity_) return false;
        }
        push(number, item);
        return true;
    }

    // True if an item is out. False: the get has to wait or needs both locks; or it changes the statistics,
    // as the get of the last item: if one lock guards both ends, `get_accounted` does this get.
    template <class T>
    WEIR_ALWAYS_INLINE bool get_here(T* into, std::uint64_t& number) noexcept {
        if (core::get_needs_both() || core::has_sink()) return false;
        number = get_end_.count.load(std::memory_order_relaxed);
        if (get_end_.seen - number < min_items_for_get) {
            // acquire; pairs with pushed(): the item is there
            get_end_.seen = put_end_.count.load(std::memory_order_acquire);
            if (get_end_.seen - number < min_items_for_get) return false;
        }
        pop(number, into);
        return true;
    }

    // The puts and gets that change the statistics, if one lock guards both ends: the put of the first item,
    // the get of the last item, and each put and get of the queue before the sink, which is the queue behind
    // the sink, too (`any_channel::merge_sink`). With two locks, the slow path does these puts and gets.
    WEIR_ALWAYS_INLINE bool put_is_accounted() const noexcept {
        return Policy::statistics && core::has_one_lock() && (core::size() == 0 || core::has_sink());
    }
    template <class T>
    bool put_accounted(T& item, slot* measured) noexcept {
        const std::size_t before = core::size();
        if (core::put_needs_both() || before >= capacity_) return false;
        if (before == 0) core::emptiness_changed(false, measured);
        push(put_end_.count.load(std::memory_order_relaxed), item);
        if (core::has_sink()) update_sink_meter(measured);
        return true;
    }
    template <class T>
    bool get_accounted(T* into, std::uint64_t& number, slot* measured) noexcept {
        if (!Policy::statistics || !core::has_one_lock()) return false;
        const std::size_t before = core::size();
        if (core::get_needs_both() || before == 0 || (before != 1 && !core::has_sink())) return false;
        number = get_end_.count.load(std::memory_order_relaxed);
        pop(number, into);
        if (before == 1) core::emptiness_changed(true, measured);
        if (core::has_sink() && this->sink_->waits_to_put()) update_sink_meter(measured);
        return true;
    }

    // Updates the meter of the merged sink. `mark`: whether the item that a waiting get has just received,
    // which is not in the ring, is a mark of the end of an epoch (a pass over the data).
    WEIR_NOINLINE void update_sink_meter(slot* measured, bool mark = false) noexcept {
        core::update_sink_meter(measured, [this, mark](std::uint64_t i) {
            if (type_.is_mark == nullptr) return false;
            return i < get_end_.count.load(std::memory_order_relaxed) ? mark : type_.is_mark(ring_[i]);
        });
    }

    template <class T>
    WEIR_ALWAYS_INLINE void push(std::uint64_t number, T& item) noexcept {
        if constexpr (is_epoch_item<T>) this->put_marks_ += item.is_mark() ? 1U : 0U;
        std::construct_at(ring_.template at<T>(number), std::move(item));
        pushed(number + 1);
    }
    template <class T>
    WEIR_ALWAYS_INLINE void pop(std::uint64_t number, T* into) noexcept {
        T* const from = ring_.template at<T>(number);
        std::construct_at(into, std::move(*from));
        std::destroy_at(from);
        if constexpr (is_epoch_item<T>) this->get_marks_ += into->is_mark() ? 1U : 0U;
        popped(number + 1);
    }

    // release: the item is in its place; pairs with the acquire in get_here() and pop_some()
    WEIR_ALWAYS_INLINE void pushed(std::uint64_t count) noexcept {
        put_end_.count.store(count, std::memory_order_release);
    }
    // release: the place is free; pairs with the acquire in put_here(), push_some() and
    // `channel_puts::has_place`
    WEIR_ALWAYS_INLINE void popped(std::uint64_t count) noexcept {
        get_end_.count.store(count, std::memory_order_release);
    }

    // With statistics get_here() does not take the last item: the get makes the channel empty, which the
    // statistics record. get_accounted() takes the item if one lock guards both ends; with two locks, the
    // slow path takes it.
    static constexpr std::uint64_t min_items_for_get = Policy::statistics ? 2 : 1;

    const item_type& type_;  // how items are moved, destroyed and measured
    ring ring_;              // the memory for the items
};

WEIR_COMPILED(class channel_items<measured>);
WEIR_COMPILED(class channel_items<summed>);
WEIR_COMPILED(class channel_items<unmeasured>);

}  // namespace weir::detail

#endif
