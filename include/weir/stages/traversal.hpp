// weir stages, internal: the state that the slots of a traversal share: pending items, and idle slots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSAL_HPP
#define WEIR_STAGES_TRAVERSAL_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/stages/pending_items.hpp>
#include <weir/stages/traversal_rule.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <stdexcept>  // for std::length_error
#include <string>     // for std::string, std::to_string

namespace weir::detail {

// The state that all slots (workers) of a traversal share. A traversal is a stage whose function may add
// items to the stage itself. Added items are pending until a slot takes them. `first_found_first`: the slots
// share one deque of pending items, and take the oldest item; if false, each slot has a deque.
class traversal {
    using count = standard_platform::atomic<std::size_t>;

  public:
    traversal(const item_type& type, const std::string& stage, bool first_found_first,
              std::size_t max_waiting) noexcept
        : items_(max_waiting), shared_(type), first_found_first_(first_found_first), stage_(stage),
          slots_(traversal_rule(idle_, items_), "for an item that another slot adds") {}

    // Adds an item to the pending items of `to`, or to the shared deque. If `add` throws, the caller keeps
    // the item: std::length_error if too many items are pending, std::bad_alloc if memory lacks.
    void add(traversal_slot& to, void* item) {
        const std::size_t now = (first_found_first_ ? shared_ : to.pending).push(item, items_);
        if (now == 0) throw_too_many();
        // relaxed, here and below: counters, which order no other data
        std::size_t most = most_waiting_.load(std::memory_order_relaxed);
        while (now > most && !most_waiting_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
        }
        // seq_cst, as in push(); pairs with traversal_rule::become_idle(): this thread sees the idle slot, or
        // that slot sees the pending item
        if (idle_.load(std::memory_order_seq_cst) != 0) {
            slots_.update([&to](traversal_rule& rule) { rule.wake_one(to); });
        }
    }

    // Takes the oldest item of the shared deque if `first_found_first_`, else the newest item of this slot.
    // Returns false if there is none in that deque.
    WEIR_ALWAYS_INLINE bool take_own(traversal_slot& me, void* into, std::uint64_t& number) noexcept {
        return first_found_first_ ? shared_.take_oldest(into, items_, number)
                                  : me.pending.take_newest(into, items_, number);
    }
    // Takes the oldest item of another slot. Returns false if there is none, or one shared deque.
    bool take_from_others(traversal_slot& me, void* into, std::uint64_t& number) noexcept {
        // relaxed: a hint; a slot that becomes idle looks again
        if (first_found_first_ || items_.pending.load(std::memory_order_relaxed) == 0) return false;
        bool took = false;
        slots_.update([&](traversal_rule& rule) { took = rule.take_from_others(me, into, items_, number); });
        return took;
    }
    // Numbers an item of the queue before the stage. Returns true if the shared deque has older items:
    // `item` is then pending, and the oldest one was moved into `into` and has `number`.
    bool exchange(void* item, void* into, std::uint64_t& number) {
        came_.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in add()
        if (first_found_first_) return shared_.exchange_oldest(item, into, items_, number);
        number = items_.next_number();
        return false;
    }

    // Changes the `traversal_rule`, by which idle slots wait, under the lock of its wait queue. Wakes the
    // slots that the changed rule admits or refuses.
    template <class Change>
    void update(Change change) noexcept {
        slots_.update(change);
    }
    // Wakes the waiting slots that a lower concurrency ends: those whose flag `slot::recalled` is set.
    void recall_idle() noexcept { slots_.ask_all(); }
    // Takes a slot out of service. Returns false if the slot has to stay: see `traversal_rule`.
    bool leave(traversal_slot& me) noexcept {
        bool left = false;
        slots_.update([&](traversal_rule& rule) { left = rule.leave(me); });
        return left;
    }
    // Makes a slot idle that has found no pending item, and returns its next step: see `traversal_rule`.
    idle_step become_idle(traversal_slot& me) noexcept {
        idle_step next = idle_step::end;
        slots_.update([&](traversal_rule& rule) { next = rule.become_idle(me); });
        return next;
    }
    // Awaitable of bool: waits until the rule lets the slot go on. False: the stage has ended.
    template <class Slot>
    auto wait(traversal_slot& me, Slot& my_slot, slot_state state) noexcept {
        return slots_.wait(&me, my_slot, state);
    }

    // The worker of the slot has ended: ends the stage, and destroys the pending items of the slot and of the
    // shared deque.
    void end(const slot& ended) noexcept {
        has_ended_.store(true, std::memory_order_relaxed);  // a hint; the rule has the same flag, with a lock
        traversal_slot* me = nullptr;
        slots_.update([&](traversal_rule& rule) {
            me = rule.slot_of(ended);
            rule.end(me);
        });
        const std::size_t n = (me != nullptr ? me->pending.clear(items_) : 0) + shared_.clear(items_);
        discarded_.fetch_add(n, std::memory_order_relaxed);  // relaxed: as in add()
    }
    // While slots work, the figures may be wrong by the number of items that are being added or taken.
    added_stats stats() const noexcept {
        added_stats s;
        // relaxed: as in add()
        s.num_waiting = items_.pending.load(std::memory_order_relaxed);
        s.most_waiting = most_waiting_.load(std::memory_order_relaxed);
        s.num_discarded = discarded_.load(std::memory_order_relaxed);
        const std::uint64_t begun = items_.taken.load(std::memory_order_relaxed);
        const std::uint64_t all = begun + s.num_waiting + s.num_discarded;
        const std::uint64_t came = came_.load(std::memory_order_relaxed);
        s.num_added = all > came ? all - came : 0;
        return s;
    }
    bool is_over() const noexcept { return has_ended_.load(std::memory_order_relaxed); }  // relaxed: a hint

  private:
    [[noreturn]] WEIR_NOINLINE void throw_too_many() const {
        throw std::length_error("weir: stage '" + stage_ + "' has " + std::to_string(items_.limit) +
                                " items that its function added and that no slot has begun, and "
                                ".max_waiting allows no more: give it more, or add fewer at a time");
    }

    item_counts items_;
    count idle_{0};                                     // slots that have found no item
    count most_waiting_{0};                             // the largest number of pending items so far
    count discarded_{0};                                // pending items that were destroyed at the end
    standard_platform::atomic<std::uint64_t> came_{0};  // items that came from the queue
    standard_platform::atomic<bool> has_ended_{false};
    pending_items shared_;  // always empty if each slot has a deque of its own
    const bool first_found_first_;
    const std::string& stage_;          // the name of the stage
    wait_queue<traversal_rule> slots_;  // the idle slots that wait
};

}  // namespace weir::detail

#endif
