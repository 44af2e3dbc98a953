// weir executor, internal: the queue of one worker, from which the others may steal
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_DEQUE_HPP
#define WEIR_EXECUTOR_DEQUE_HPP

#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::unique_ptr
#include <utility>  // for std::move

namespace weir::detail {

// A deque of coroutine addresses: its owner pushes and pops at the bottom, anyone (the owner too)
// takes at the top.
//
// Source: Chase, Lev, "Dynamic circular work-stealing deque" (SPAA 2005), in the C11 form of Le,
// Pop, Cohen, Zappa Nardelli, "Correct and efficient work-stealing for weak memory models" (PPoPP
// 2013). Their two seq_cst fences are seq_cst operations on `top_` and `bottom_` here, since
// ThreadSanitizer doesn't model fences: on x86 the same instructions, on ARM one barrier more in
// `steal`.
//
// Indices are 64 bits and may wrap: only their differences are used. An array that was outgrown is
// kept until the end, because a thief may still read from it; together they are no larger than the
// last one.
template <class Platform = standard_platform>
class basic_work_stealing_deque {
    using index = typename Platform::template atomic<std::uint64_t>;
    using cell = typename Platform::template atomic<void*>;

    struct ring {
        explicit ring(std::size_t capacity) : mask(capacity - 1), cells(new cell[capacity]) {}
        cell& at(std::uint64_t i) const noexcept { return cells[static_cast<std::size_t>(i) & mask]; }

        std::size_t mask;
        std::unique_ptr<cell[]> cells;
        std::unique_ptr<ring> outgrown;
    };

    alignas(64) index top_;     // the next to be stolen; only ever grows, by a compare-exchange
    alignas(64) index bottom_;  // one past the last pushed; written by the owner only
    typename Platform::template atomic<ring*> ring_;
    std::unique_ptr<ring> owned_;  // the owner's

  public:
    // `capacity`: a power of two. `first`: where the indices start; for tests of their wrapping.
    explicit basic_work_stealing_deque(std::size_t capacity = Platform::first_capacity,
                                       std::uint64_t first = 0)
        : top_(first), bottom_(first), ring_(nullptr), owned_(new ring(capacity)) {
        ring_.store(owned_.get(), std::memory_order_relaxed);
    }
    basic_work_stealing_deque(const basic_work_stealing_deque&) = delete;
    basic_work_stealing_deque& operator=(const basic_work_stealing_deque&) = delete;

    // How many there are, or were a moment ago.
    std::size_t size() const noexcept {
        const std::uint64_t t = top_.load(std::memory_order_relaxed);
        const auto n = distance(t, bottom_.load(std::memory_order_relaxed));
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    bool empty() const noexcept { return size() == 0; }

    // What is in the deque now, `steal_before` of this may take; what is pushed from now on
    // not, as long as the owner doesn't pop at the bottom.
    std::uint64_t bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }

    // Owner only. Holds no full fence: a thief sees the push in time, not at once.
    void push_bottom(void* item) {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed);
        // acquire; pairs with the compare-exchange in steal(): the thief has read the cell that is
        // overwritten now
        const std::uint64_t t = top_.load(std::memory_order_acquire);
        ring* r = ring_.load(std::memory_order_relaxed);
        if (distance(t, b) > static_cast<std::int64_t>(r->mask)) r = grow(t, b);
        r->at(b).store(item, std::memory_order_relaxed);
        // release; pairs with the load in steal(): the cell, and what the item points to, are seen
        bottom_.store(b + 1, std::memory_order_release);
    }

    // Owner only. The youngest item, or null.
    void* pop_bottom() noexcept {
        const std::uint64_t b = bottom_.load(std::memory_order_relaxed) - 1;
        ring* const r = ring_.load(std::memory_order_relaxed);
        // Store, then load, both seq_cst; pairs with the two loads in steal(), in the other order:
        // a thief that already sees `top_ == b` sees that the owner has taken b away, or the owner
        // sees how far the thieves have come.
        bottom_.store(b, std::memory_order_seq_cst);
        std::uint64_t t = top_.load(std::memory_order_seq_cst);
        const std::int64_t left = distance(t, b);
        if (left > 0) return r->at(b).load(std::memory_order_relaxed);
        void* item = nullptr;
        if (left == 0) {  // the last one: race for it as a thief does
            item = r->at(b).load(std::memory_order_relaxed);
            if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                              std::memory_order_relaxed)) {
                item = nullptr;
            }
        }
        // release; pairs with steal(), as in push_bottom()
        bottom_.store(b + 1, std::memory_order_release);
        return item;
    }

    // Anyone. The oldest item, or null if there was none. Tries again when somebody was faster:
    // each failure is another thread's success.
    void* steal() noexcept {
        return steal_if([](std::uint64_t) noexcept { return true; });
    }

    // The same, but only what was there when `bottom` gave `end`.
    void* steal_before(std::uint64_t end) noexcept {
        return steal_if([end](std::uint64_t t) noexcept { return distance(t, end) > 0; });
    }

  private:
    template <class Allowed>
    void* steal_if(Allowed allowed) noexcept {
        for (;;) {
            // seq_cst, in this order; see pop_bottom()
            std::uint64_t t = top_.load(std::memory_order_seq_cst);
            const std::uint64_t b = bottom_.load(std::memory_order_seq_cst);
            if (distance(t, b) <= 0 || !allowed(t)) return nullptr;
            // acquire; pairs with the release in grow(): the new ring's cells are seen
            ring* const r = ring_.load(std::memory_order_acquire);
            void* const item = r->at(t).load(std::memory_order_relaxed);
            if (top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                             std::memory_order_relaxed)) {
                return item;
            }
        }
    }

    static std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
        return static_cast<std::int64_t>(to - from);
    }

    WEIR_NOINLINE ring* grow(std::uint64_t t, std::uint64_t b) {
        std::unique_ptr<ring> bigger(new ring(2 * (owned_->mask + 1)));
        for (std::uint64_t i = t; i != b; ++i) {
            bigger->at(i).store(owned_->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
        }
        bigger->outgrown = std::move(owned_);
        owned_ = std::move(bigger);
        ring_.store(owned_.get(), std::memory_order_release);  // pairs with the acquire in steal()
        return owned_.get();
    }
};

using work_stealing_deque = basic_work_stealing_deque<>;

WEIR_COMPILED(class basic_work_stealing_deque<standard_platform>);

}  // namespace weir::detail

#endif
