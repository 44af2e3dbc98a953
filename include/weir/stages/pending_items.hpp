// weir stages, internal: deques of items that the function of a `traverse` has added, and their counts
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PENDING_ITEMS_HPP
#define WEIR_STAGES_PENDING_ITEMS_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <mutex>    // for std::lock_guard

namespace weir::detail {

// Counts of the items of a traversal, a stage whose function adds items to the stage. Added items are pending
// in a deque until a slot takes them. `pending` changes under the lock of a deque. So a slot that reads a
// `pending` above 0 finds an item if it takes the locks of all deques, unless another slot has taken the
// item. The counts order no data, except `pending` together with the number of slots that have found no item:
// see `push`.
struct item_counts {
    explicit item_counts(std::size_t most_pending) noexcept : limit(most_pending) {}

    standard_platform::atomic<std::uint64_t> taken{0};  // items that slots have taken
    standard_platform::atomic<std::size_t> pending{0};
    const std::size_t limit;  // the largest number of pending items

    // relaxed: gives each item a number of its own. With one shared deque, the lock of that deque makes the
    // numbers follow the order of the items. With a deque for each slot, the order is free.
    std::uint64_t next_number() noexcept { return taken.fetch_add(1, std::memory_order_relaxed); }
};

// A deque of pending items: of one slot (worker), or, with `traverse_order::as_found`, of all slots. A slot
// takes the newest item of its own deque, as depth-first search does. A slot whose deque is empty takes the
// oldest item of another slot, usually the root of the largest subtree. (Source: Blumofe and Leiserson,
// Scheduling Multithreaded Computations by Work Stealing, JACM 1999.) From a shared deque, slots take the
// oldest item.
class pending_items {
  public:
    explicit pending_items(const item_type& type) noexcept : type_(type), items_(type) {}
    pending_items(const pending_items&) = delete;
    pending_items& operator=(const pending_items&) = delete;
    ~pending_items() { destroy_items(items_, type_, first_, last_); }

    // Moves the item to the end of the deque. Returns the number of pending items of all deques; 0: `limit`
    // items are pending already. Errors: `std::bad_alloc`; `memory_shortage`, a `std::bad_alloc` with a text.
    // After the result 0, or after an exception, the item is unchanged.
    std::size_t push(void* item, item_counts& all) {
        const std::lock_guard guard(lock_);
        if (size() == items_.places()) grow();
        // seq_cst; pairs with `traversal_rule::become_idle`, which counts the slot as idle, and then reads
        // `pending`. So that slot sees this item, or `traversal::add` sees the idle slot, and wakes it.
        const std::size_t before = all.pending.fetch_add(1, std::memory_order_seq_cst);
        if (before >= all.limit) {
            all.pending.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in count_taken()
            return 0;
        }
        type_.move(item, items_[last_++]);
        return before + 1;
    }

    // Moves an item into the uninitialised memory `into`, and sets its number. Returns false if the deque is
    // empty.
    bool take_newest(void* into, item_counts& all, std::uint64_t& number) noexcept {
        const std::lock_guard guard(lock_);
        if (size() == 0) return false;
        items_.take(--last_, into);
        number = count_taken(all);
        return true;
    }
    bool take_oldest(void* into, item_counts& all, std::uint64_t& number) noexcept {
        const std::lock_guard guard(lock_);
        if (size() == 0) return false;
        items_.take(first_++, into);
        number = count_taken(all);
        return true;
    }
    // Moves the oldest item into `into`, and `item` to the end of the deque. Returns false if the deque is
    // empty: `item` then stays where it is, and gets the number. Throws as `push` does.
    bool exchange_oldest(void* item, void* into, item_counts& all, std::uint64_t& number) {
        const std::lock_guard guard(lock_);
        if (size() == 0) {
            number = all.next_number();
            return false;
        }
        if (size() == items_.places()) grow();
        type_.move(item, items_[last_++]);
        items_.take(first_++, into);
        number = all.next_number();
        return true;
    }

    bool empty() const noexcept {
        const std::lock_guard guard(lock_);
        return size() == 0;
    }
    // Destroys all items, and returns their number.
    std::size_t clear(item_counts& all) noexcept {
        const std::lock_guard guard(lock_);
        const std::size_t n = size();
        for (; first_ != last_; ++first_) items_.destroy(first_);
        all.pending.fetch_sub(n, std::memory_order_relaxed);  // relaxed: as in count_taken()
        return n;
    }

  private:
    std::size_t size() const noexcept { return number_as<std::size_t>(last_ - first_); }
    // Returns the number of the item that was taken. relaxed: a slot that reads a count that is too high
    // searches once more.
    static std::uint64_t count_taken(item_counts& all) noexcept {
        all.pending.fetch_sub(1, std::memory_order_relaxed);
        return all.next_number();
    }
    // Doubles the places of the ring, at least to 8.
    void grow() {
        ring more(type_, larger<std::size_t>(items_.places() * 2, 8));
        for (std::uint64_t i = first_; i != last_; ++i) items_.move(i, more);
        items_.swap(more);
    }

    mutable spin_lock lock_;
    const item_type& type_;
    ring items_;               // the memory of the deque
    std::uint64_t first_ = 0;  // the position of the oldest item
    std::uint64_t last_ = 0;   // the position behind the newest item
};

}  // namespace weir::detail

#endif
