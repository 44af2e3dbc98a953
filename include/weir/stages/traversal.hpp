// weir stages, internal: what the slots of a traversal share: the pending items, and who waits for one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSAL_HPP
#define WEIR_STAGES_TRAVERSAL_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/stages/traversal_rule.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <stdexcept>  // for std::length_error
#include <string>     // for std::string, std::to_string

namespace weir::detail {

// What all slots of a traversal share.
class traversal {
    using count = standard_platform::atomic<std::size_t>;

  public:
    traversal(const item_type& type, const std::string& stage, bool first_found_first,
              std::size_t max_waiting) noexcept
        : shared_(type), first_found_first_(first_found_first), stage_(stage), max_waiting_(max_waiting),
          slots_(traversal_rule(idle_, first_found_first ? &shared_ : nullptr),
                 "for an item that another slot adds") {}

    // Adds an item to those of `to`. Throws; the item is the caller's then.
    void add(traversal_slot& to, void* item) {
        // relaxed, here and below: a number of which only the sum of all counts
        const std::size_t before = waiting_.fetch_add(1, std::memory_order_relaxed);
        if (before >= max_waiting_) {
            waiting_.fetch_sub(1, std::memory_order_relaxed);
            throw_too_many();
        }
        try {
            (first_found_first_ ? shared_ : to.found).push(item);
        } catch (...) {
            waiting_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
            throw;
        }
        std::size_t most = most_waiting_.load(std::memory_order_relaxed);
        while (before >= most &&
               !most_waiting_.compare_exchange_weak(most, before + 1, std::memory_order_relaxed)) {
        }
        // Behind the deque's lock: a slot that has found that deque empty before is counted by it.
        if (idle_.load(std::memory_order_relaxed) != 0) {
            slots_.update([](traversal_rule& rule) { rule.call_one(); });
        }
    }

    // The next pending item, of the slot's own if there are such. False: there is none.
    WEIR_ALWAYS_INLINE bool take_own(traversal_slot& me, void* into, std::uint64_t& number) noexcept {
        const bool took = first_found_first_ ? shared_.take_oldest(into, taken_, number)
                                             : me.found.take_newest(into, taken_, number);
        if (took) waiting_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in add()
        return took;
    }
    bool take_from_others(void* into, std::uint64_t& number) noexcept {
        if (first_found_first_) return false;
        const bool took = slots_.read([&](const traversal_rule& rule) {
            traversal_slot* each = rule.first();
            while (each != nullptr && !each->found.take_oldest(into, taken_, number)) each = each->next;
            return each != nullptr;
        });
        if (took) waiting_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in add()
        return took;
    }
    // Numbers an item of the queue before the stage. True: it waits behind those that were found before, of
    // which the first one was moved to `into` and has the number.
    bool exchange(void* item, void* into, std::uint64_t& number) {
        came_.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in add()
        if (first_found_first_) return shared_.exchange_oldest(item, into, taken_, number);
        number = pending_items::next_of(taken_);
        return false;
    }

    // A change of the rule, with whoever may go on because of it.
    template <class Change>
    void update(Change change) noexcept {
        slots_.update(change);
    }
    idle_step look(traversal_slot& me) noexcept {
        idle_step next = idle_step::end;
        slots_.update([&](traversal_rule& rule) { next = rule.look(me); });
        return next;
    }
    template <class Slot>
    auto wait(traversal_slot& me, Slot& who, slot_state as) noexcept {
        return slots_.wait(&me, who, as);
    }

    // The slot's worker has ended, and so does the stage. What is pending is destroyed.
    void end(const slot& who) noexcept {
        over_.store(true, std::memory_order_relaxed);  // a hint; the rule says the same under its lock
        traversal_slot* me = nullptr;
        slots_.update([&](traversal_rule& rule) {
            me = rule.first();
            while (me != nullptr && me->who != &who) me = me->next;
            rule.end(me);
        });
        const std::size_t n = (me != nullptr ? me->found.clear() : 0) + shared_.clear();
        // relaxed: as in add()
        waiting_.fetch_sub(n, std::memory_order_relaxed);
        discarded_.fetch_add(n, std::memory_order_relaxed);
    }
    // While slots are at work, the figures may be apart by what they do just it.
    added_stats stats() const noexcept {
        added_stats s;
        // relaxed: as in add()
        s.num_waiting = waiting_.load(std::memory_order_relaxed);
        s.most_waiting = most_waiting_.load(std::memory_order_relaxed);
        s.num_discarded = discarded_.load(std::memory_order_relaxed);
        const std::uint64_t begun = taken_.load(std::memory_order_relaxed);
        const std::uint64_t all = begun + s.num_waiting + s.num_discarded;
        const std::uint64_t came = came_.load(std::memory_order_relaxed);
        s.num_added = all > came ? all - came : 0;
        return s;
    }
    bool is_over() const noexcept { return over_.load(std::memory_order_relaxed); }  // relaxed: a hint

  private:
    [[noreturn]] WEIR_NOINLINE void throw_too_many() const {
        throw std::length_error("weir: stage '" + stage_ + "' has " + std::to_string(max_waiting_) +
                                " items that its function added and that no slot has begun, and "
                                ".max_waiting allows no more: give it more, or add fewer at a time");
    }

    pending_items::counter taken_{0};
    count idle_{0};
    count waiting_{0};
    count most_waiting_{0};
    count discarded_{0};
    pending_items::counter came_{0};  // from the queue
    standard_platform::atomic<bool> over_{false};
    pending_items shared_;
    const bool first_found_first_;
    const std::string& stage_;
    const std::size_t max_waiting_;
    wait_queue<traversal_rule> slots_;
};

}  // namespace weir::detail

#endif
