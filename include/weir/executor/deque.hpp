// weir executor, internal: the queue of one worker, from which the others may steal
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_DEQUE_HPP
#define WEIR_EXECUTOR_DEQUE_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <utility>  // for std::move

namespace weir::detail {

// An unbounded lock-free work-stealing deque of coroutine addresses: one owner, any number of thieves. The
// owner pushes and pops at the bottom: last in, first out. Thieves take from the top: first in, first out.
//
//     the owner                                push_bottom, pop_bottom, pop_bottom_if, steal
//     other threads                            steal_with_fence
//     other threads, if the owner doesn't pop  steal, steal_before
//     all threads                              size, empty, bottom
//
// Errors:   `push_bottom` throws `std::bad_alloc` if the deque can't grow; the deque is then unchanged.
// Lifetime: all threads have finished using the deque before it is destroyed. It doesn't own the coroutines.
// Source:   Chase, Lev, "Dynamic circular work-stealing deque" (SPAA 2005, doi 10.1145/1073970.1073974), in
//           the C11 form of Le, Pop, Cohen, Zappa Nardelli, "Correct and efficient work-stealing for weak
//           memory models" (PPoPP 2013, doi 10.1145/2442516.2442524), figure 1.
//
// The code differs from that figure in the fences. A release store of `bottom_` replaces the release fence.
// The two seq_cst fences are asymmetric fences (Goldblatt, P1202) where the platform has these: a light one
// for the owner (5 ns less), a heavy one for the thief (1.5 us). Elsewhere seq_cst operations on `top_` and
// `bottom_` replace these fences: ThreadSanitizer doesn't model fences.
template <class Platform = standard_platform>
class basic_work_stealing_deque {
  public:
    // `capacity`: a power of two. `first`: where the indices start; for tests of their wrapping.
    explicit basic_work_stealing_deque(std::size_t capacity = Platform::first_capacity,
                                       std::uint64_t first = 0)
        : top_(first), bottom_(first), ring_(nullptr), owned_(new ring(capacity)) {
        ring_.store(owned_.get(), std::memory_order_relaxed);
    }
    basic_work_stealing_deque(const basic_work_stealing_deque&) = delete;
    basic_work_stealing_deque& operator=(const basic_work_stealing_deque&) = delete;

    // The number of items. relaxed: may be out of date.
    std::size_t size() const noexcept {
        const std::uint64_t t = top_.load(std::memory_order_relaxed);
        const auto n = distance(t, bottom_.load(std::memory_order_relaxed));
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    bool empty() const noexcept { return size() == 0; }

    // A position for `steal_before`, which takes only items that were pushed before this call. Only for
    // deques whose owner doesn't pop at the bottom meanwhile. relaxed: steal_before() orders the items
    std::uint64_t bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }

    // Owner only. Without a full fence: a thief sees the item eventually, not at once.
    WEIR_ALWAYS_INLINE void push_bottom(void* item) {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);
        // acquire; pairs with the compare-exchange in take_if(): the thief has read the cell that is
        // overwritten now
        const std::uint64_t t = top_.load(std::memory_order_acquire);
        ring* const r = ring_.load(std::memory_order_relaxed);
        if (distance(t, b) > static_cast<std::int64_t>(r->mask)) return push_grown(t, b, item);
        put(*r, b, item);
    }

    // Owner only. Takes the youngest item; null if empty, or if a thief was faster. The cell can be read
    // after pop(), as only the owner writes cells.
    void* pop_bottom() noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed) - 1;
        cell& last = ring_.load(std::memory_order_relaxed)->at(b);
        return pop(b) ? last.load(std::memory_order_relaxed) : nullptr;
    }

    // Owner only. Takes the youngest item if it is `item`. Returns whether it was taken: false if empty, if
    // another item is the youngest, or if a thief was faster.
    bool pop_bottom_if(const void* item) noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed) - 1;
        // Only the owner writes the cell. If the deque is empty, the cell may hold an old item, and pop()
        // fails.
        return ring_.load(std::memory_order_relaxed)->at(b).load(std::memory_order_relaxed) == item && pop(b);
    }

    // Any thread but the owner. Takes the oldest item; null if empty. Tries again when another thread was
    // faster: each failure is another thread's success, so the deque is lock-free.
    void* steal_with_fence() noexcept {
        if (empty()) return nullptr;  // may be out of date; saves a fence
        return take_if<true>([](std::uint64_t) noexcept { return true; });
    }

    // As `steal_with_fence`, without its fence: for the owner; and for any thread, if the owner never pops at
    // the bottom.
    void* steal() noexcept {
        return take_if<false>([](std::uint64_t) noexcept { return true; });
    }

    // As `steal`, but takes only items that were pushed before `bottom()` returned `end`; null if there is
    // none. So a thief takes items that have waited for some time.
    void* steal_before(std::uint64_t end) noexcept {
        return take_if<false>([end](std::uint64_t t) noexcept { return distance(t, end) > 0; });
    }

  private:
    using atomic_index = typename Platform::template atomic<std::uint64_t>;
    using cell = typename Platform::template atomic<void*>;

    // The cells, a power of two of them. An index beyond the last cell starts again at the first.
    struct ring {
        explicit ring(std::size_t capacity) : mask(capacity - 1), cells(new cell[capacity]) {}
        cell& at(std::uint64_t i) const noexcept { return cells[number_as<std::size_t>(i) & mask]; }

        std::size_t mask;
        owned<cell[]> cells;
        owned<ring> outgrown;  // the previous ring; null for the first
    };

    void put(ring& r, std::uint64_t b, void* item) noexcept {  // as the youngest
        r.at(b).store(item, std::memory_order_relaxed);
        // release; pairs with the load in take_if(): the cell, and what the item points to, are seen
        bottom_.store(b + 1, std::memory_order_release);
    }

    WEIR_NOINLINE void push_grown(std::uint64_t t, std::uint64_t b, void* item) { put(*grow(t, b), b, item); }

    // Takes item `b`, the youngest: makes `b` the bottom; if there is no other item, increments the top
    // instead. False if the deque is empty or a thief took the item. Inlined: a worker takes nearly all tasks
    // that it has forked this way.
    WEIR_ALWAYS_INLINE bool pop(std::uint64_t b) noexcept {
        // Stores the bottom, then loads the top, with a full fence between. A thief loads them in the other
        // order, in take_if(). If item `b` is the last one, the thief loads the new bottom and leaves the
        // item, or the owner loads `top_ == b` and competes for the item. release; pairs with the load in
        // take_if(), as in put(): a thief that loads this bottom sees the cells below
        std::uint64_t t = 0;
        if (Platform::has_heavy_fence()) {
            bottom_.store(b, std::memory_order_release);
            Platform::light_fence();
            t = top_.load(std::memory_order_relaxed);
        } else {
            bottom_.store(b, std::memory_order_seq_cst);
            t = top_.load(std::memory_order_seq_cst);
        }
        return distance(t, b) > 0 || pop_last(t, b);
    }

    WEIR_NOINLINE bool pop_last(std::uint64_t t, std::uint64_t b) noexcept {
        // No item, or only one: compete for it as a thief does, because a thief may have read the bottom
        // before pop(). relaxed on failure: the value is not used
        const bool won = t == b && top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                                                std::memory_order_relaxed);
        // release; pairs with take_if(), as in put()
        bottom_.store(b + 1, std::memory_order_release);
        return won;
    }

    // Takes the oldest item; null if empty, or if `allowed` is false for its index. `OwnerMayPop`: the owner
    // may pop meanwhile, and so take the same item: a fence is needed.
    template <bool OwnerMayPop, class Allowed>
    void* take_if(Allowed allowed) noexcept {
        for (;;) {
            // seq_cst, in this order; the heavy fence between them pairs with the light one; see pop()
            std::uint64_t t = top_.load(std::memory_order_seq_cst);
            if constexpr (OwnerMayPop) {
                if (Platform::has_heavy_fence()) Platform::heavy_fence();
            }
            const std::uint64_t b = bottom_.load(std::memory_order_seq_cst);
            if (distance(t, b) <= 0 || !allowed(t)) return nullptr;
            // acquire; pairs with the release in grow(): the new ring's cells are seen
            ring* const r = ring_.load(std::memory_order_acquire);
            // Loaded before the compare-exchange: afterwards, the owner may overwrite the cell. If the owner
            // did so already, the top has moved, and the compare-exchange fails.
            void* const item = r->at(t).load(std::memory_order_relaxed);
            if (top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                             std::memory_order_relaxed)) {
                return item;
            }
        }
    }

    static std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {  // also if the indices wrap
        return static_cast<std::int64_t>(to - from);
    }

    ring* grow(std::uint64_t t, std::uint64_t b) {  // copies the items into a ring of twice the size
        owned<ring> bigger(new ring(2 * (owned_->mask + 1)));
        for (std::uint64_t i = t; i != b; ++i) {
            bigger->at(i).store(owned_->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
        }
        bigger->outgrown = std::move(owned_);
        owned_ = std::move(bigger);
        ring_.store(owned_.get(), std::memory_order_release);  // pairs with the acquire in take_if()
        return owned_.get();
    }

    // The owner's loads of `bottom_`, `ring_` and cells are relaxed, as the owner alone writes these. Its
    // stores into cells are relaxed, as a release follows: of `bottom_` in put(), of `ring_` in grow().
    //
    // The items are in the cells from `top_` to before `bottom_`. During a pop, `bottom_` can be one less
    // than `top_`. The indices may wrap: only their differences are used.
    alignas(64) atomic_index top_;     // the next to be stolen; only ever grows, by a compare-exchange
    alignas(64) atomic_index bottom_;  // one past the last pushed; written by the owner only
    typename Platform::template atomic<ring*> ring_;
    // The current ring, for the owner only. It keeps the outgrown rings, because a thief may still read from
    // them; together, they are smaller than the current ring.
    owned<ring> owned_;
};

using work_stealing_deque = basic_work_stealing_deque<>;

WEIR_COMPILED(class basic_work_stealing_deque<standard_platform>);

}  // namespace weir::detail

#endif
