// weir stages, internal: the items of a traversal that were added and that no slot has begun
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PENDING_ITEMS_HPP
#define WEIR_STAGES_PENDING_ITEMS_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <mutex>    // for std::lock_guard

namespace weir::detail {

// A deque of items. Its slot takes the newest one, as depth-first search does; a slot that has none takes the
// oldest one, which is the root of the largest subtree as a rule (Blumofe and Leiserson, Scheduling
// Multithreaded Computations by Work Stealing, JACM 1999).
class pending_items {
  public:
    using counter = standard_platform::atomic<std::uint64_t>;

    explicit pending_items(const item_type& type) noexcept : type_(type), items_(type) {}
    pending_items(const pending_items&) = delete;
    pending_items& operator=(const pending_items&) = delete;
    ~pending_items() { destroy_items(items_, type_, first_, last_); }

    // Moves the item in. Throws only std::bad_alloc and memory_shortage; the item stays as it was then.
    void push(void* item) {
        const std::lock_guard guard(lock_);
        if (size() == items_.places()) grow();
        type_.move(item, items_[last_++]);
    }

    // Moves an item to where nothing is constructed, and numbers it by `taken`, which counts what all deques
    // of the stage gave. False: there is none.
    bool take_newest(void* into, counter& taken, std::uint64_t& number) noexcept {
        const std::lock_guard guard(lock_);
        if (size() == 0) return false;
        items_.take(--last_, into);
        number = next_of(taken);
        return true;
    }
    bool take_oldest(void* into, counter& taken, std::uint64_t& number) noexcept {
        const std::lock_guard guard(lock_);
        if (size() == 0) return false;
        items_.take(first_++, into);
        number = next_of(taken);
        return true;
    }
    // Gives the oldest item for one that comes from elsewhere and goes to the end. False: there is none; the
    // other item stays where it is, and has the number. Throws as `push`.
    bool exchange_oldest(void* item, void* into, counter& taken, std::uint64_t& number) {
        const std::lock_guard guard(lock_);
        if (size() == 0) {
            number = next_of(taken);
            return false;
        }
        if (size() == items_.places()) grow();
        type_.move(item, items_[last_++]);
        items_.take(first_++, into);
        number = next_of(taken);
        return true;
    }
    // relaxed: a number; the lock orders those whose order counts
    static std::uint64_t next_of(counter& taken) noexcept {
        return taken.fetch_add(1, std::memory_order_relaxed);
    }

    bool empty() const noexcept {
        const std::lock_guard guard(lock_);
        return size() == 0;
    }
    // Returns how many were destroyed.
    std::size_t clear() noexcept {
        const std::lock_guard guard(lock_);
        const std::size_t n = size();
        for (; first_ != last_; ++first_) items_.destroy(first_);
        return n;
    }

  private:
    std::size_t size() const noexcept { return number_as<std::size_t>(last_ - first_); }
    void grow() {
        ring more(type_, larger<std::size_t>(items_.places() * 2, 8));
        for (std::uint64_t i = first_; i != last_; ++i) items_.move(i, more);
        items_.swap(more);
    }

    mutable spin_lock lock_;
    const item_type& type_;
    ring items_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
};

}  // namespace weir::detail

#endif
